import { randomUUID } from 'node:crypto';
import { chmod, chown, copyFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { startHub } from 'iot-hub-emulator';
import { startAuthority } from 'iot-hub-emulator/authority';
import { createJournal } from 'iot-hub-emulator/journal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { folderForAll, portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startBackends } from '../../sandbox/backends/backends.ts';
import { startAzurite } from '../../sandbox/methods/azurite.ts';
import { buildService } from '../../sandbox/service/build.ts';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { frontDoorEnvironment, serviceEnvironment } from '../../sandbox/service/environment.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { answers, inherited, type ServiceProcess, startService } from '../../sandbox/service/process.ts';
import { isRoot } from '../../scripts/image/followDockerfile.ts';
import { settingDocs } from '../../src/settings/config.ts';
import { parseMetrics, sampleOf } from '../support/prom.ts';
import { build, documents, overlays, type Resource } from './kustomize.ts';
import { type Pod, podOf, podOfApp } from './pod.ts';

// Every deployment is applied to the real program on this machine (D387): its command, environment, folders and probes. Only what
// the manifests cannot know is put in: addresses that end with `.example`, the name at the token endpoint, the Secret, and ports that are free here.

const directory = folderForAll('pods');
let stages: Readonly<Record<'keys' | 'identity' | 'app', Stage>>;
const running: ServiceProcess[] = [];

beforeAll(async () => {
  await buildService();
  await chmod(directory, 0o755);
  const [keys, identity, app] = await Promise.all([
    stageWithKeys(directory),
    stageWithIdentity(directory, 'workload'),
    stageWithIdentity(directory, 'managed'),
  ]);
  stages = { keys, identity, app };
});
afterAll(async () => {
  await Promise.all(running.map((one) => one.kill()));
  await Promise.all(Object.values(stages ?? {}).map((stage) => stage.close()));
});

const stageOf = (resources: readonly Resource[]): Stage => {
  const settings = resources.find(({ kind }) => kind === 'ConfigMap')?.['data'] as Record<string, string>;
  return settings['IDENTITY'] === undefined ? stages.keys : stages.identity;
};

const adminSecret = { ADMIN_TOKEN: randomUUID() };
const secretsOf = ({ known }: Stage) => ({ 'device-messaging': known, 'device-messaging-admin': adminSecret });

const isExample = (value: string) => /^(https:\/\/)?[\w-]+\.example(\/|$)/.test(value);

interface Started {
  readonly pod: Pod;
  readonly process: ServiceProcess;
  readonly logFile: string;
  /** The real address of a port of the pod. */
  at(port: number): string;
}

const startPod = (resources: readonly Resource[], name: string): Promise<Started> => {
  const stage = stageOf(resources);
  return start(podOf(resources, name, secretsOf(stage)), stage);
};

async function start(pod: Pod, stage: Stage): Promise<Started> {
  const { known } = stage;
  const environment = { ...pod.environment };
  for (const [variable, value] of Object.entries(environment))
    if (isExample(value) || variable === 'BACKENDS_CLIENT_ID') environment[variable] = known[variable] ?? value;

  const real = await mkdtemp(join(directory, 'pod-'));
  await chmod(real, 0o755);
  for (const folder of pod.folders) {
    await mkdir(join(real, folder));
    if (isRoot) await chown(join(real, folder), 1000, 1000);
    for (const [variable, value] of Object.entries(environment))
      if (value === folder) environment[variable] = join(real, folder);
  }
  for (const [path, content] of Object.entries(pod.secretFiles)) {
    await mkdir(dirname(join(real, path)), { recursive: true });
    await writeFile(join(real, path), content, { mode: 0o440 });
    if (isRoot) await chown(join(real, path), 0, 1000);
    for (const [variable, value] of Object.entries(environment))
      if (value === path) environment[variable] = join(real, path);
  }
  const caFile = join(real, 'ca.pem');
  await copyFile(stage.caFile, caFile);
  await chmod(caFile, 0o644);

  const portVariables = { admin: 'ADMIN_PORT', health: 'HTTP_PORT', methods: 'METHODS_PORT' } as const;
  const addresses = new Map<number, string>();
  for (const [port, variable] of Object.entries(portVariables)) {
    const inPod = pod.ports[port];
    if (inPod === undefined) continue;
    expect(environment[variable] ?? settingDocs().find(({ env }) => env === variable)?.default, port).toBe(
      String(inPod),
    );
    environment[variable] = String(await freePort());
    addresses.set(inPod, `http://127.0.0.1:${environment[variable]}`);
  }
  const at = (port: number) => addresses.get(port) ?? '';
  // No name of a cluster's Service has an address here.
  if (environment['ADMIN_INSTANCES']) environment['ADMIN_INSTANCES'] = at(8082).replace('http://', '');
  const ready = pod.probes.find(({ kind }) => kind === 'readinessProbe');
  const logFile = join(real, 'log');
  const told = { ...environment, ...(await stage.injected(pod, real)), NODE_EXTRA_CA_CERTS: caFile };
  if (pod.before.length > 0) {
    const [, ...words] = pod.before;
    const { stdout } = await promisify(execFile)(process.execPath, words, {
      env: { ...inherited(), ...told },
      // Not root, so that it can write nowhere but into its folders.
      ...(isRoot && { uid: 1000, gid: 1000 }),
    }).catch(({ stdout }) => ({ stdout }));
    expect(stdout, 'of the init container').toMatch(/ 0 ✗ /);
  }
  const started = await startService({
    command: pod.command,
    environment: { ADMIN_PORT: '0', ...told },
    readyzUrl: `${at(ready?.port ?? 0)}${ready?.path}`,
    logFile,
    ...(isRoot && { user: { uid: 1000, gid: 1000 } }),
  });
  running.push(started);
  return { pod, process: started, logFile, at };
}

const programs = [
  ...new Map(
    overlays.flatMap((folder) => {
      const resources = build(folder);
      return resources.flatMap(({ kind, metadata, spec }) => {
        const { template } = (spec ?? {}) as { readonly template?: unknown };
        return kind === 'Deployment' ? [[JSON.stringify(template), [metadata.name, folder, resources] as const]] : [];
      });
    }) as [string, readonly [string, string, readonly Resource[]]][],
  ).values(),
];
const [monitor = {}] = documents('deploy/kubernetes/monitoring/pod-monitor.yaml');
const { podMetricsEndpoints } = monitor['spec'] as {
  readonly podMetricsEndpoints: readonly { readonly port: string; readonly path: string }[];
};

describe.each(programs)('%s of %s', (name, _folder, resources) => {
  it('starts with what it is told, answers its probes at its ports, and stops within its grace', async () => {
    const { pod, process, logFile, at } = await startPod(resources, name);
    for (const { kind, path, port } of pod.probes) expect(await answers(`${at(port)}${path}`), kind).toBe(true);
    for (const { port, path } of podMetricsEndpoints)
      expect(parseMetrics(await (await fetch(`${at(pod.ports[port] ?? 0)}${path}`)).text()).length).toBeGreaterThan(10);
    if (pod.ports['methods'] !== undefined)
      expect((await fetch(`${at(pod.ports['methods'])}/objects/a/models/b/methods/c`, { method: 'POST' })).status).toBe(
        401,
      );
    if (pod.ports['admin'] !== undefined) {
      const [service, port] = pod.environment['ADMIN_INSTANCES']?.split(':') ?? [];
      const headless = resources.find((one) => one.kind === 'Service' && one.metadata.name === service);
      expect(headless?.['spec']).toMatchObject({ clusterIP: 'None', ports: [{ port: Number(port) }] });
      // Another address than the one of programs that nobody else may reach.
      const url = `${at(pod.ports['admin']).replace('127.0.0.1', '127.0.0.2')}/fleet`;
      expect((await fetch(url)).status).toBe(401);
      const headers = { authorization: `Bearer ${adminSecret.ADMIN_TOKEN}` };
      expect(await (await fetch(url, { headers })).json()).toMatchObject({
        ...{ members: [{ program: 'service', partitions: { length: 4 } }], unread: [] },
      });
    }
    await process.stop(pod.graceSeconds * 1000);
    expect(await process.exited).toMatchObject({ code: 0 });
    const log = await readFile(logFile, 'utf8');
    expect(log).not.toContain('setting.unknown');
    expect(log).not.toContain('"level":"error"');
  });
  it('sets variables only that the program reads', () => {
    const pod = podOf(resources, name, secretsOf(stageOf(resources)));
    const known = ['NODE_ENV', ...settingDocs().map(({ env }) => env)];
    expect(Object.keys(pod.environment).filter((variable) => !known.includes(variable))).toEqual([]);
  });
  it('has a grace above its drain: 30 s for the service, 15 for the front door and its pause', () => {
    const pod = podOf(resources, name, secretsOf(stageOf(resources)));
    const isService = pod.ports['methods'] === undefined;
    const drain = isService ? 'DELIVERY_DRAIN_SECONDS' : 'METHODS_DRAIN_SECONDS';
    const seconds = Number(pod.environment[drain] ?? settingDocs().find(({ env }) => env === drain)?.default);
    expect(pod.graceSeconds).toBe(seconds + (isService ? 30 : 15) + pod.pauseSeconds);
  });
  it('does not start without its Secret, and has none when it has an identity', () => {
    const pod = () => podOf(resources, name, { 'device-messaging-admin': adminSecret });
    if (stageOf(resources) === stages.keys) expect(pod).toThrow('Secret device-messaging has no HUB_');
    else expect(pod().clientId).toMatch(/^[0-9a-f-]{36}$/);
  });
});

it('the Container App starts with what it is told, answers its probes, sends its metrics, and stops within its grace', async () => {
  const { known } = stages.app;
  const sent: string[] = [];
  const collector = createServer((request, response) => {
    sent.push(`${request.method} ${request.url}`);
    request.resume().once('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  const port = await portForTest(collector);
  const vaultUrl = 'https://vault.example/secrets/backends';
  const pod = podOfApp(
    'deploy/azure/container-app.json',
    {
      ...{ environmentId: '/environment', identityId: '/identity', registry: 'registry.example', image: 'image' },
      hubHostName: known['HUB_HOST_NAME'] ?? '',
      eventsNamespace: known['HUB_EVENTS_NAMESPACE'] ?? '',
      storeAccountUrl: known['STORE_ACCOUNT_URL'] ?? '',
      informationModelUrl: known['INFORMATION_MODEL_URL'] ?? '',
      typeRegistryUrl: known['TYPE_REGISTRY_URL'] ?? '',
      principalManagerUrl: known['PRINCIPAL_MANAGER_URL'] ?? '',
      backendsTokenUrl: known['BACKENDS_TOKEN_URL'] ?? '',
      backendsClientId: known['BACKENDS_CLIENT_ID'] ?? '',
      ...{ backendsClientSecretUrl: vaultUrl, collector: `http://127.0.0.1:${port}` },
    },
    '00000000-0000-0000-0000-000000000000',
    { [vaultUrl]: known['BACKENDS_CLIENT_SECRET'] ?? '' },
  );
  const deployment = build('deploy/kubernetes/overlays/with-keys').find(({ kind }) => kind === 'Deployment');
  expect(deployment?.['spec']).toMatchObject({
    template: { spec: { terminationGracePeriodSeconds: pod.graceSeconds } },
  });
  const { process, logFile, at } = await start(pod, stages.app);
  for (const { kind, path, port } of pod.probes) expect(await answers(`${at(port)}${path}`), kind).toBe(true);
  await process.stop(pod.graceSeconds * 1000);
  expect(await process.exited).toMatchObject({ code: 0 });
  expect(sent).toContain('POST /v1/metrics');
  const log = await readFile(logFile, 'utf8');
  expect(log).not.toContain('setting.unknown');
  expect(log).not.toContain('"level":"error"');
});

it('a rolling update starts the new pod beside the old one, which hands over every partition and ends with 0', async () => {
  const resources = build('deploy/kubernetes/overlays/with-keys');
  const deployment = resources.find(({ kind }) => kind === 'Deployment');
  expect(deployment?.['spec']).toMatchObject({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
  const reading = async ({ pod, at }: Started) => {
    const response = await fetch(`${at(pod.ports['health'] ?? 0)}/metrics`);
    const state = { device_messaging_state: 'reading' };
    return sampleOf(parseMetrics(await response.text()), 'device_messaging_partitions', state) ?? 0;
  };
  const old = await startPod(resources, 'device-messaging');
  await expect.poll(() => reading(old)).toBe(4);
  const fresh = await startPod(resources, 'device-messaging');
  await expect.poll(() => reading(fresh)).toBe(2);
  await old.process.stop(old.pod.graceSeconds * 1000);
  expect(await old.process.exited).toMatchObject({ code: 0 });
  await expect.poll(() => reading(fresh)).toBe(4);
  await fresh.process.stop();
});

/** What is around a pod, on this machine: a hub, backends and a storage account. */
interface Stage {
  /** What a Secret has, and the real values of addresses and names, by variable. */
  readonly known: Readonly<Record<string, string>>;
  readonly caFile: string;
  /** What the platform puts into a pod by itself, once it has the folder. */
  injected(pod: Pod, folder: string): Promise<Readonly<Record<string, string>>>;
  close(): Promise<unknown>;
}

const consumerGroups = ['device-messaging'];

async function stageWithKeys(directory: string): Promise<Stage> {
  const journal = createJournal();
  const hub = await startHub({ journal, directory: join(directory, 'hub'), consumerGroups });
  const backends = await startBackends({ seed: true, journal });
  const azurite = await startAzurite();
  const files = { connectionString: azurite.connectionString, container: 'files' };
  const ports = { port: 0, healthPort: 0, adminPort: 0 };
  return {
    known: {
      ...frontDoorEnvironment(hub, backends, files, ports),
      ...serviceEnvironment(hub, backends, 'http://127.0.0.1:1', directory),
      STORE_CONNECTION_STRING: azurite.connectionString,
    },
    caFile: hub.caFile,
    injected: async () => ({}),
    close: () => Promise.all([azurite.close(), backends.close(), hub.close()]),
  };
}

/** The backends' own resources, each as its scope names it. */
const backendScopes: Readonly<Record<string, string>> = {
  informationModel: 'api://information-model.example',
  typeRegistry: 'api://type-registry.example',
  principalManager: 'api://principal-manager.example',
};
const platform = ['https://iothubs.azure.net', 'https://eventhubs.azure.net', 'https://storage.azure.com'];

/**
 * As a cluster with the webhook of Azure Workload Identity, where nothing takes a key; or as Container Apps, which give a managed identity, and where
 * the backends take tokens of their own endpoint.
 */
async function stageWithIdentity(directory: string, how: 'workload' | 'managed'): Promise<Stage> {
  const hubDirectory = join(directory, `hub-${how}`);
  const principal = {
    clientId: '00000000-0000-0000-0000-000000000000',
    objectId: randomUUID(),
    federatedToken: `projected-${randomUUID()}`,
  };
  const authority = await startAuthority({
    directory: hubDirectory,
    principals: [principal],
    resources: [...platform, ...Object.values(backendScopes)],
  });
  const rights = { [principal.objectId]: ['messageSend', 'methodInvoke', 'routedListen'] as const };
  const hub = await startHub({
    ...{ directory: hubDirectory, consumerGroups, authority: { ...authority.trust, rights } },
    routeTo: { name: 'device-messages', partitions: 4 },
  });
  const certificate = { cert: join(hubDirectory, 'server.pem'), key: join(hubDirectory, 'server.key') };
  const accepts = (backend: string, token: string) => authority.accepts(token, backendScopes[backend] ?? '');
  const backends = await startBackends({ seed: true, ...(how === 'workload' && { accepts }) });
  const storage = await startAzurite({ certificate });
  const host = `localhost:${hub.ports.amqps}`;
  return {
    known: {
      ...(how === 'managed' && serviceEnvironment(hub, backends, 'http://127.0.0.1:1', directory)),
      ...{ HUB_EVENTS_NAMESPACE: host, HUB_HOST_NAME: host, STORE_ACCOUNT_URL: storage.url },
      INFORMATION_MODEL_URL: backends.informationModelUrl,
      TYPE_REGISTRY_URL: backends.typeRegistryUrl,
      PRINCIPAL_MANAGER_URL: backends.principalManagerUrl,
    },
    caFile: hub.caFile,
    async injected({ clientId }, folder) {
      if (how === 'managed') return authority.appService;
      if (clientId === undefined) return {};
      const file = join(folder, 'azure-identity-token');
      await writeFile(file, principal.federatedToken, { mode: 0o644 });
      return {
        ...{ AZURE_CLIENT_ID: clientId, AZURE_TENANT_ID: authority.tenantId, AZURE_FEDERATED_TOKEN_FILE: file },
        IDENTITY_AUTHORITY_HOST: authority.url, // that of the public cloud is the default
      };
    },
    close: () => Promise.all([storage.close(), backends.close(), hub.close(), authority.close()]),
  };
}
