import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { entriesOf, flawsOf } from './flaws.ts';
import { build, documents, nameOf, overlays, type Resource } from './kustomize.ts';

const built = overlays.map((folder) => [folder, build(folder)] as const);
const all = built.flatMap(([folder, resources]) =>
  resources.map((resource) => [`${nameOf(resource)} of ${folder}`, resource] as const),
);

describe('manifests', () => {
  it.each(all)('%s is valid by the schema of its kind, and by our ranges', (_, resource) =>
    expect(flawsOf(resource)).toEqual([]),
  );
  it.each([
    ['a text for a number', 'apps/v1', 'Deployment', { spec: { minReadySeconds: 'soon' } }, 'minReadySeconds'],
    ['a number that is out of its range', 'apps/v1', 'Deployment', { spec: { replicas: 0 } }, 'must not be 0'],
    ['a key that is misspelt', 'apps/v1', 'Deployment', { spec: { replica: 2 } }, '/spec/replica is no key'],
    ['an unknown kind', 'apps/v1', 'Deploiment', {}, 'no schema'],
    [
      'fewer at most than at least',
      'keda.sh/v1alpha1',
      'ScaledObject',
      { spec: { minReplicaCount: 5, maxReplicaCount: 4 } },
      'minReplicaCount must not be above',
    ],
    ['a map of which we know no keys', 'v1', 'ConfigMap', { binaryData: { any: '' } }, '/binaryData takes no any'],
  ])('%s is refused', (_, apiVersion, kind, more, flaw) => {
    const flaws = flawsOf({ apiVersion, kind, metadata: { name: 'one' }, ...more });
    expect(flaws.join('\n')).toContain(flaw);
  });
  it('need no more than Kubernetes has by itself, except the overlay with the two operators', () => {
    const plain = all.filter(([name]) => !name.endsWith('/complete')).map(([, { apiVersion }]) => apiVersion);
    expect([...new Set(plain)].sort()).toEqual(['apps/v1', 'networking.k8s.io/v1', 'policy/v1', 'v1']);
  });
  it('are all in a namespace of their own, with an image of this version that has a registry', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(all.filter(([, { metadata }]) => metadata.namespace !== 'device-messaging')).toEqual([]);
    const images = all.flatMap(([, one]) =>
      entriesOf(one).flatMap(({ key, value }) => (key === 'image' ? [value] : [])),
    );
    expect(images.length).toBeGreaterThan(all.length / 3);
    expect([...new Set(images)]).toEqual([`registry.example/device-messaging-service:${version}`]);
  });
  it('are all in an overlay: none is forgotten in a kustomization', () => {
    const files = readdirSync('deploy/kubernetes', { recursive: true, encoding: 'utf8' });
    const written = files
      .filter((file) => file.endsWith('.yaml') && !/kustomization\.yaml$/.test(file))
      .flatMap((file) => documents(`deploy/kubernetes/${file}`) as Resource[]);
    const names = new Set(all.map(([, resource]) => nameOf(resource)));
    expect(written.map(nameOf).filter((name) => !names.has(name))).toEqual([]);
  });
});

describe.each(built)('in %s', (_folder, resources) => {
  interface Labelled extends Resource {
    readonly spec: {
      readonly selector?: { readonly matchLabels?: Labels };
      readonly podSelector?: { readonly matchLabels: Labels };
      readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
      readonly scaleTargetRef?: { readonly name: string };
    };
  }
  type Labels = Readonly<Record<string, string>>;
  interface PodSpec {
    readonly topologySpreadConstraints: readonly { readonly labelSelector: { readonly matchLabels: Labels } }[];
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly containers: readonly { readonly securityContext: unknown; readonly resources: unknown }[];
    readonly initContainers: PodSpec['containers'];
  }
  const specs = resources.filter((one): one is Labelled => 'spec' in one);
  const deployments = specs.filter(({ kind }) => kind === 'Deployment');
  const labelsOf = ({ spec }: Labelled): Labels => spec.template?.metadata.labels ?? {};
  const isIn = (some: Labels, all: Labels) => Object.entries(some).every(([key, value]) => all[key] === value);

  it('every selector finds pods that are there', () => {
    for (const resource of specs) {
      const selectors = [
        resource.kind === 'Service' ? (resource.spec.selector as Labels) : resource.spec.selector?.matchLabels,
        resource.spec.podSelector?.matchLabels,
        ...(resource.spec.template?.spec.topologySpreadConstraints ?? []).map((one) => one.labelSelector.matchLabels),
      ].filter((one) => one !== undefined);
      for (const selector of selectors)
        expect(deployments.filter((one) => isIn(selector, labelsOf(one))).length, nameOf(resource)).toBeGreaterThan(0);
      const target = resource.spec.scaleTargetRef?.name;
      if (target !== undefined) expect(deployments.map(({ metadata }) => metadata.name)).toContain(target);
    }
  });
  it('no selector of a deployment, a service or a budget finds the pods of another one', () => {
    for (const { kind, spec, ...resource } of specs) {
      if (!['Deployment', 'PodDisruptionBudget', 'Service'].includes(kind)) continue;
      const selector = (kind === 'Service' ? spec.selector : spec.selector?.matchLabels) as Labels;
      expect(deployments.filter((one) => isIn(selector, labelsOf(one))).map(({ metadata }) => metadata.name)).toEqual([
        resource.metadata.name,
      ]);
    }
  });
  it('every pod meets the restricted Pod Security Standard, and has a limit of memory', () => {
    for (const { spec } of deployments) {
      const pod = spec.template?.spec;
      expect(pod?.securityContext).toMatchObject({
        ...{ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const container of [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]) {
        expect(container.securityContext).toEqual({
          ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        });
        expect(container.resources).toMatchObject({
          requests: { memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        });
      }
    }
  });
});

describe('what else a tool reads', () => {
  const unknownIn = (tree: unknown, known: readonly string[]) =>
    entriesOf(tree)
      .map(({ path }) => path.replace(/\/\d+(?=\/)/g, '/*').slice(1))
      .filter((path) => !known.includes(path));
  const below = (folder: string, keys: string) => keys.split(' ').map((key) => `${folder}/${key}`);

  it('compose.yaml has only keys that Docker Compose knows', () => {
    const [compose] = documents('deploy/compose.yaml');
    const keys = [
      ...['name', 'services', 'services/sandbox', 'services/device-messaging', 'volumes', 'volumes/data'],
      ...below('services/sandbox', 'image user init working_dir command volumes ports'),
      ...below('services/sandbox', 'healthcheck healthcheck/test healthcheck/interval healthcheck/start_period'),
      ...below('services/device-messaging', 'build user network_mode depends_on depends_on/sandbox'),
      ...below('services/device-messaging', 'depends_on/sandbox/condition command environment read_only'),
      ...below('services/device-messaging', 'stop_grace_period restart volumes'),
      ...below('services/device-messaging/environment', 'HTTP_HOST NODE_EXTRA_CA_CERTS'),
    ];
    expect(unknownIn(compose, keys)).toEqual([]);
  });
  it('the manifest of IoT Edge has only keys that its agents and Docker know', () => {
    const manifest = JSON.parse(readFileSync('deploy/edge/deployment.json', 'utf8'));
    const [agent, hub] = ['$edgeAgent/properties.desired', '$edgeHub/properties.desired'];
    const module = 'type status restartPolicy settings settings/image settings/createOptions';
    const keys = [
      ...['$edgeAgent', '$edgeHub', agent, hub],
      ...below(agent, 'schemaVersion runtime runtime/type runtime/settings runtime/settings/minDockerVersion'),
      ...below(agent, 'systemModules systemModules/edgeAgent systemModules/edgeHub modules modules/edge-proxy'),
      ...below(`${agent}/systemModules/edgeAgent`, 'type settings settings/image settings/createOptions'),
      ...below(`${agent}/systemModules/edgeHub`, module),
      ...below(
        `${agent}/modules/edge-proxy`,
        `version env env/EDGE_PROXY_CONFIG env/EDGE_PROXY_CONFIG/value ${module}`,
      ),
      ...below(hub, 'schemaVersion routes storeAndForwardConfiguration storeAndForwardConfiguration/timeToLiveSecs'),
    ];
    expect(unknownIn(manifest.modulesContent, keys)).toEqual([]);
    expect(Object.keys(manifest)).toEqual(['modulesContent']);
    const { createOptions } = manifest.modulesContent.$edgeAgent['properties.desired'].modules['edge-proxy'].settings;
    const binding = 'PortBindings/*/tcp';
    const options = [
      ...['StopTimeout', 'HostConfig'],
      ...below('HostConfig', 'Binds ReadonlyRootfs CapDrop SecurityOpt LogConfig LogConfig/Type LogConfig/Config'),
      ...below('HostConfig', `LogConfig/Config/max-size LogConfig/Config/max-file PortBindings ${binding}`),
      ...below(`HostConfig/${binding}/*`, 'HostIp HostPort'),
    ];
    expect(unknownIn(JSON.parse(createOptions), options)).toEqual([]);
  });
  it('the template of the Container App has only keys of the published schema (2024-03-01)', () => {
    const { resources } = JSON.parse(readFileSync('deploy/azure/container-app.json', 'utf8'));
    const container = 'properties/template/containers/*';
    const keys = [
      ...['type', 'apiVersion', 'name', 'location', 'identity', 'identity/type', 'identity/userAssignedIdentities'],
      `identity/userAssignedIdentities/[parameters('identityId')]`,
      ...['properties', ...below('properties', 'environmentId configuration template')],
      ...below('properties/configuration', 'activeRevisionsMode registries registries/*/server registries/*/identity'),
      ...below('properties/configuration', 'secrets secrets/*/name secrets/*/keyVaultUrl secrets/*/identity'),
      ...below('properties/template', 'terminationGracePeriodSeconds scale scale/minReplicas scale/maxReplicas'),
      ...below('properties/template', 'containers volumes volumes/*/name volumes/*/storageType volumes/*/secrets'),
      ...below('properties/template/volumes/*/secrets/*', 'secretRef path'),
      ...below(container, 'name image resources resources/cpu resources/memory env env/*/name env/*/value'),
      ...below(container, 'volumeMounts volumeMounts/*/volumeName volumeMounts/*/mountPath probes probes/*/type'),
      ...below(`${container}/probes/*`, 'httpGet httpGet/path httpGet/port initialDelaySeconds periodSeconds'),
      ...below(`${container}/probes/*`, 'timeoutSeconds failureThreshold'),
    ];
    expect(resources).toHaveLength(1);
    expect(unknownIn(resources[0], keys)).toEqual([]);
    const { template } = resources[0].properties;
    expect(template.scale).toEqual({ minReplicas: 2, maxReplicas: 2 });
    // What Container Apps allow a probe.
    for (const probe of template.containers[0].probes) expect(probe.failureThreshold ?? 3).toBeLessThanOrEqual(10);
  });
  it.each(readdirSync('deploy/systemd'))('%s has only directives that systemd knows', (file) => {
    const known = [
      ...['[Unit]', 'Description', 'Wants', 'After', '[Service]', 'User', 'WorkingDirectory', 'StateDirectory'],
      ...['Environment', 'EnvironmentFile', 'ExecStart', 'Restart', 'RestartSec', 'TimeoutStopSec', 'LimitNOFILE'],
      'SuccessExitStatus',
      ...['NoNewPrivileges', 'ProtectSystem', 'ProtectHome', 'PrivateTmp', '[Install]', 'WantedBy'],
    ];
    const lines = readFileSync(`deploy/systemd/${file}`, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    expect(lines.filter((line) => !known.includes(line.split('=')[0] ?? ''))).toEqual([]);
  });
});

const hasKubectl = (() => {
  try {
    execFileSync('kubectl', ['kustomize', '--help'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

const byName = (resources: readonly Resource[]) => new Map(resources.map((one) => [nameOf(one), one]));

it('deploy/kubernetes has no overlay without a test', () =>
  expect(readdirSync('deploy/kubernetes/overlays').map((name) => `deploy/kubernetes/overlays/${name}`)).toEqual(
    overlays,
  ));

it.skipIf(!hasKubectl).each(overlays)('kubectl kustomize makes the same of %s', async (folder) => {
  const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder]);
  const theirs = parseAllDocuments(stdout).map((document) => document.toJS() as Resource);
  expect(byName(build(folder))).toEqual(byName(theirs));
});
