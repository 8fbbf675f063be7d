import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { startHub } from 'iot-hub-emulator';
import { startAuthority } from 'iot-hub-emulator/authority';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { folderForAll, startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { startBackends } from '../../sandbox/backends/backends.ts';
import { connectDevice } from '../../sandbox/device/device.ts';
import { startAzurite } from '../../sandbox/methods/azurite.ts';
import { buildService } from '../../sandbox/service/build.ts';
import { freePort } from '../../sandbox/service/freePort.ts';
import { type ServiceProcess, startService } from '../../sandbox/service/process.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { http } from '../sandbox/backends/client.ts';
import { startConnectProxy } from '../support/connectProxy.ts';
import { appendEvent } from '../support/events.ts';
import { runNode } from './commands/run.ts';
import { linesIn, nextAck } from './testSandbox.ts';

// The built programs without a single key: tokens of the stand-in for the platform, which the hub, the event hub behind a
// route, the storage account and the backends check (D365).

const own = { clientId: randomUUID(), objectId: randomUUID(), federatedToken: `projected-${randomUUID()}` };
const scopes: Readonly<Record<string, string>> = {
  informationModel: 'api://im',
  typeRegistry: 'api://tr',
  principalManager: 'api://pm',
};
const platform = ['https://iothubs.azure.net', 'https://eventhubs.azure.net', 'https://storage.azure.com'];

const directory = folderForAll('identity');
const hubDirectory = join(directory, 'hub');
const resources = [...platform, ...Object.values(scopes)];
const authority = startForAll(() => startAuthority({ directory: hubDirectory, principals: [own], resources }));
const hub = startForAll(() =>
  startHub({
    directory: hubDirectory,
    devices: [{ deviceId: 'pump-1' }, { deviceId: 'motor-1' }],
    authority: { ...authority.trust, rights: { [own.objectId]: ['messageSend', 'methodInvoke', 'routedListen'] } },
    routeTo: { name: 'routed', partitions: 2 },
  }),
);
const proxy = startForAll(startConnectProxy);
const accepts = (backend: string, token: string) => authority.accepts(token, scopes[backend] ?? '');
const backends = startForAll(() => startBackends({ seed: true, accepts }));
const certificate = { cert: join(hubDirectory, 'server.pem'), key: join(hubDirectory, 'server.key') };
const storage = startForAll(() => startAzurite({ certificate }));
const pump = startForAll(() => deviceOf('pump-1'));
beforeAll(async () => void (await buildService()));

const deviceOf = (id: string) =>
  connectDevice({ id, connectionString: hub.deviceConnectionString(id), caFile: hub.caFile });

/** What the platform gives a workload, and a machine. */
const workload = (token = own.federatedToken) => {
  const file = join(directory, `token-${randomUUID()}`);
  writeFileSync(file, `${token}\n`);
  return {
    ...{ IDENTITY: 'workload', IDENTITY_AUTHORITY_HOST: authority.url, AZURE_TENANT_ID: authority.tenantId },
    AZURE_CLIENT_ID: own.clientId,
    AZURE_FEDERATED_TOKEN_FILE: file,
  };
};
const behindProxy = () => ({
  ...{ ...workload(), HUB_TRANSPORT: 'websockets' },
  ...{ HTTPS_PROXY: proxy.urlWithCredentials, NO_PROXY: '' },
});
/** Of the first principal: an app has one unless it names another. */
const app = () => ({ IDENTITY: 'managed', ...authority.appService });
const managed = () => ({ IDENTITY: 'managed', IDENTITY_CLIENT_ID: own.clientId, ...authority.machine });

const common = () => ({
  NODE_ENV: 'production',
  HUB_HOST_NAME: `localhost:${hub.ports.amqps}`,
  INFORMATION_MODEL_URL: backends.informationModelUrl,
  INFORMATION_MODEL_SCOPE: `${scopes['informationModel']}/.default`,
  TYPE_REGISTRY_URL: backends.typeRegistryUrl,
  TYPE_REGISTRY_SCOPE: `${scopes['typeRegistry']}/.default`,
  STORE_ACCOUNT_URL: storage.url,
  ...{ HTTP_HOST: '127.0.0.1', ADMIN_PORT: '0', NODE_EXTRA_CA_CERTS: hub.caFile },
});

interface Run {
  readonly process: ServiceProcess;
  lines(): Record<string, unknown>[];
}

let runs = 0;
async function start(environment: object, command?: readonly string[], until = 'readyz'): Promise<Run> {
  runs += 1;
  const logFile = join(directory, `log-${runs}`);
  const port = await freePort();
  const process = await startService({
    ...{ environment: { ...environment, HTTP_PORT: String(port) }, logFile, command },
    readyzUrl: `http://127.0.0.1:${port}/${until}`,
  });
  onTestFinished(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    await process.stop();
    const written = metrics + readFileSync(logFile, 'utf8');
    const secrets = [own.federatedToken, authority.appService['IDENTITY_HEADER'] ?? '', 'eyJ', 'Bearer ', 'sig='];
    for (const secret of [...secrets, ...proxy.secrets]) expect(written).not.toContain(secret);
  });
  return { process, lines: () => linesIn(logFile) };
}

/** Of the service, which reads the event hub behind the route. */
const ofService = () => ({
  ...common(),
  ...{ HUB_EVENTS_NAMESPACE: common().HUB_HOST_NAME, HUB_EVENTS_NAME: 'routed', HUB_EVENTS_SENDERS: 'hub-only' },
  PRINCIPAL_MANAGER_URL: backends.principalManagerUrl,
  PRINCIPAL_MANAGER_SCOPE: `${scopes['principalManager']}/.default`,
  ...{ STORE: 'blob', DATA_DIRECTORY: join(directory, `data-${runs}`) },
});
const service = (identity: object, more: object = {}, until = 'readyz') =>
  start({ ...ofService(), ...identity, ...more }, undefined, until);

async function createsModel(correlationId: string) {
  const body = JSON.stringify({ model: 'svc.device', type: 'pump', properties: { serial: correlationId } });
  await pump.send(envelope('model.create', correlationId), Buffer.from(body));
  return (await nextAck(pump)).body;
}

it.each([
  ['a workload behind a proxy', behindProxy],
  ['a machine', managed],
  ['an app', app],
])('the service with the identity of %s reads, calls the backends, answers and checkpoints', async (who, identity) => {
  const { lines } = await service(identity());
  expect(await createsModel(randomUUID())).toMatchObject({ success: true });
  expect(lines().find(({ event }) => event === 'program.started')).toMatchObject({
    access: {
      ...{ events: 'identity', service: 'identity', checkpoints: 'identity', deadLetters: 'identity' },
      ...{ informationModel: 'identity', typeRegistry: 'identity', principalManager: 'identity' },
    },
  });
  const asked = new Set(authority.requests.filter(({ granted }) => granted).map(({ resource }) => resource));
  expect([...asked].sort()).toEqual([...platform, ...Object.values(scopes)].sort());
  await expect.poll(() => lines().filter(({ msg }) => msg === 'handled')).toHaveLength(1);
  // With HTTPS; the backends of this test have none.
  const ways = [authority.url, storage.url, `https://${common().HUB_HOST_NAME}`].map((url) => new URL(url).host);
  expect([...new Set(proxy.asked)].sort()).toEqual(ways.sort());
  // One after the other takes up where the one before was: the checkpoints are in the account.
  const reading = lines().filter(({ event }) => event === 'partition.reading');
  if (who !== 'a workload behind a proxy') expect(reading.map(({ from }) => from)).not.toContain('earliest');
});

describe('the event hub behind the route', () => {
  const claims = { 'iothub-connection-device-id': 'pump-1' };
  const message = { msgType: 'action', action: 'identity.delete', version: '2', correlationId: 'forged', ack: 'all' };

  it('is believed for message annotations only: what says elsewhere whom it is from is handled for nobody', async () => {
    const { lines } = await service(managed());
    await createsModel(randomUUID()); // it reads
    const event = { device: undefined, properties: { ...message, ...claims }, body: Buffer.from('{}') };
    for (const partition of hub.routedPartitions) appendEvent(partition, event);
    await expect.poll(() => lines().some(({ event }) => event === 'message.unattributed')).toBe(true);
    await createsModel(randomUUID());
    expect(lines().filter(({ correlationId }) => correlationId === 'forged')).toEqual([]);
  });
});

it('the check of a deployment gets in with the identity, as the service does', async () => {
  const { stdout: report } = await runNode(['dist/check.js'], { ...ofService(), ...managed() });
  expect(report.split('\n').filter((line) => line.startsWith('✗'))).toEqual([]);
  for (const found of ['may send to devices', 'partitions with', 'was created, written', 'refuses a device that'])
    expect(report).toContain(found);
  expect(report).not.toContain('eyJ');
});

describe('a service that is refused says what to do', () => {
  const other = (scope: string) => `${scope}/.default`;
  const containing = (text: string) => expect.stringContaining(text);
  it.each<[string, Record<string, string>, string, object, token?: string]>([
    [
      'by the hub, because of the audience',
      { IDENTITY_HUB_SCOPE: other('https://storage.azure.com') },
      'service_endpoint.unreachable',
      { setting: 'HUB_HOST_NAME', hubSaid: containing('InvalidAudience'), todo: expect.stringMatching(/role/) },
    ],
    [
      'by the event hub, because of the audience',
      { IDENTITY_EVENTS_SCOPE: other('https://iothubs.azure.net') },
      'hub.unreadable',
      { setting: 'HUB_EVENTS_NAMESPACE', todo: expect.stringMatching(/Data Receiver/) },
    ],
    [
      'by the account, because of the audience',
      { IDENTITY_STORAGE_SCOPE: other('https://iothubs.azure.net') },
      'ownership.round_failed',
      { setting: 'STORE_ACCOUNT_URL', storeSaid: '403 AuthenticationFailed', todo: expect.stringMatching(/Blob Data/) },
    ],
    [
      'by the authority, which knows no such resource',
      { IDENTITY_HUB_SCOPE: other('https://unknown.example') },
      'identity.no_token',
      { setting: 'IDENTITY', scope: other('https://unknown.example'), cause: containing('AADSTS500011') },
    ],
    [
      'by the authority, because of the file',
      {},
      'identity.no_token',
      { cause: containing('AADSTS700213') },
      'another token',
    ],
  ])('%s', async (_, settings, event, fields, token) => {
    const { lines } = await service(workload(token), settings, 'livez');
    await expect.poll(() => lines().find((line) => line['event'] === event), { timeout: 60_000 }).toMatchObject(fields);
  });
});

it('the front door invokes a method with a file that a key lent by the account signs', async () => {
  const files = { METHODS_FILES_CONTAINER: 'files' };
  const port = await freePort();
  await makeFile('files', 'curve.json', '{"a":1}');
  await start({ ...common(), ...managed(), ...files, METHODS_PORT: String(port) }, ['node', 'dist/methods.js']);
  const motor = await deviceOf('motor-1');
  onTestFinished(() => motor.close());
  const calls: { files?: Record<string, { url: string }> }[] = [];
  await motor.onMethod('invokeMethod', async (payload, send) => {
    calls.push(payload as never);
    await send(200, { status: 0, output: {} });
  });
  const token = backends.applications.issue({ name: 'control-room', tenant: 'acme', mayInvoke: true }, 600);
  const object = backends.world.objects.list().find(({ name }) => name === 'Conveyor motor');
  const path = `/objects/${object?.objectId}/models/svc.device/methods/loadFirmware`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const reply = await http(`http://127.0.0.1:${port}`, 'POST', path, { input: { image: 'curve.json' } }, headers);
  expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('"status":0')]);
  const url = calls[0]?.files?.['image']?.url ?? '';
  expect(new URL(url).searchParams.get('skoid')).toBe(own.objectId);
  expect(await fetched(url)).toBe('{"a":1}');
  expect(await fetched(url.replace('curve.json', 'other.json'))).toMatch(/AuthenticationFailed|AuthorizationFailure/);
});

/** As an identity with the right to write. */
async function makeFile(container: string, name: string, content: string) {
  const headers = {
    authorization: `Bearer ${authority.issue(own.objectId, 'https://storage.azure.com')}`,
    'x-ms-version': '2023-11-03',
    'x-ms-date': new Date().toUTCString(),
  };
  await asked(`${storage.url}/${container}?restype=container`, 'PUT', headers);
  await asked(`${storage.url}/${container}/${name}`, 'PUT', { ...headers, 'x-ms-blob-type': 'BlockBlob' }, content);
}

const fetched = (url: string) => asked(url, 'GET', {});

async function asked(url: string, method: string, headers: Record<string, string>, body = ''): Promise<string> {
  const length = method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const outgoing = request(url, { method, ca: readFileSync(hub.caFile), headers: { ...headers, ...length } });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  return text(answer);
}
