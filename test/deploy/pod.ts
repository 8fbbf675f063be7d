import { readFileSync } from 'node:fs';
import { readDockerfile } from '../../scripts/image/followDockerfile.ts';
import type { Resource, Tree } from './kustomize.ts';

/** What Kubernetes and the image tell a program, of a deployment's one container. */
export interface Pod {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The command that has to end with 0 before; it has the same environment and folders. */
  readonly before: readonly string[];
  readonly ports: Readonly<Record<string, number>>;
  readonly probes: readonly { readonly kind: string; readonly path: string; readonly port: number }[];
  /** Where an empty folder is mounted. */
  readonly folders: readonly string[];
  /** What a Secret puts into mounted folders: by path. */
  readonly secretFiles: Readonly<Record<string, string>>;
  readonly graceSeconds: number;
  /** Of the identity that the platform's webhook gives it; none for most. */
  readonly clientId: string | undefined;
  /** Seconds between the end of its time as an endpoint and SIGTERM. */
  readonly pauseSeconds: number;
}

interface Container {
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
}

type PodTemplate = Readonly<{ metadata: { readonly labels: Readonly<Record<string, string>> }; spec: PodSpec }>;

interface PodSpec {
  readonly serviceAccountName: string;
  readonly terminationGracePeriodSeconds: number;
  readonly initContainers: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

interface Volume {
  readonly name: string;
  readonly emptyDir?: Tree;
  readonly secret?: {
    readonly secretName: string;
    readonly items: readonly { readonly key: string; readonly path: string }[];
  };
}

/** By name, as what makes a Secret gives them. */
export type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** @throws Error when the pod would not start: something that it refers to is not there */
export function podOf(resources: readonly Resource[], name: string, secrets: Secrets): Pod {
  const find = (kind: string, wanted: string): Tree => {
    const found = resources.find((one) => one.kind === kind && one.metadata.name === wanted);
    if (found === undefined) throw new Error(`there is no ${kind} ${wanted}`);
    return found;
  };
  const { template } = find('Deployment', name)['spec'] as { readonly template: PodTemplate };
  const { spec } = template;
  const account = find('ServiceAccount', spec.serviceAccountName)['metadata'] as {
    readonly annotations?: Readonly<Record<string, string>>;
  };
  const hasIdentity = template.metadata.labels['azure.workload.identity/use'] === 'true';
  const [container, ...others] = spec.containers;
  if (container === undefined || others.length > 0) throw new Error(`${name} has ${spec.containers.length} containers`);
  const image = imageOf('Dockerfile');
  const [check, ...more] = spec.initContainers;
  if (check === undefined || more.length > 0)
    throw new Error(`${name} has ${spec.initContainers.length} init containers`);
  const told = ({ envFrom, env, volumeMounts }: Container) => JSON.stringify([envFrom, env, volumeMounts]);
  if (told(check) !== told(container)) throw new Error(`${name} checks with other settings than it runs with`);

  const ports = Object.fromEntries(container.ports.map((port) => [port.name, port.containerPort]));
  const configured = (container.envFrom ?? []).map(
    ({ configMapRef }) => find('ConfigMap', configMapRef.name)['data'] as Readonly<Record<string, string>>,
  );
  const single = (container.env ?? []).map((one) => {
    const { name: secret = '', key = '' } = one.valueFrom?.secretKeyRef ?? {};
    const value = one.value ?? secrets[secret]?.[key];
    if (value === undefined) throw new Error(`the Secret ${secret} has no ${key}`);
    return [one.name, value] as const;
  });
  const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((kind) => {
    const probe = (container as unknown as Tree)[kind] as { httpGet: { path: string; port: string } } | undefined;
    const port = ports[probe?.httpGet.port ?? ''];
    if (probe === undefined || port === undefined) throw new Error(`${name} has no ${kind}, or at no port of its own`);
    return { kind, path: probe.httpGet.path, port };
  });
  const mounted = (container.volumeMounts ?? []).map((mount) => {
    const volume = spec.volumes?.find((one) => one.name === mount.name);
    if (!volume?.emptyDir && !volume?.secret) throw new Error(`${name} has no volume ${mount.name}`);
    return { path: mount.mountPath, secret: volume.secret };
  });
  const folders = mounted.flatMap(({ path, secret }) => (secret === undefined ? [path] : []));
  const secretFiles = mounted.flatMap(({ path: folder, secret }) =>
    (secret?.items ?? []).map(({ key, path }) => {
      const content = secrets[secret?.secretName ?? '']?.[key];
      if (content === undefined) throw new Error(`the Secret ${secret?.secretName} has no ${key}`);
      return [`${folder}/${path}`, content] as const;
    }),
  );
  return {
    command: [...(container.command ?? []), ...(container.args ?? image.command)],
    before: check.args ?? [],
    ...{ environment: Object.assign({}, image.environment, ...configured, Object.fromEntries(single)), ports, probes },
    folders,
    secretFiles: Object.fromEntries(secretFiles),
    clientId: hasIdentity ? account.annotations?.['azure.workload.identity/client-id'] : undefined,
    graceSeconds: spec.terminationGracePeriodSeconds,
    pauseSeconds: container.lifecycle?.preStop.sleep.seconds ?? 0,
  };
}

interface ContainerApp {
  readonly properties: {
    readonly configuration: { readonly secrets: readonly { readonly name: string; readonly keyVaultUrl: string }[] };
    readonly template: {
      readonly terminationGracePeriodSeconds: number;
      readonly scale: Tree;
      readonly containers: readonly {
        readonly env: readonly { readonly name: string; readonly value: string }[];
        readonly volumeMounts: readonly { readonly volumeName: string; readonly mountPath: string }[];
        readonly probes: readonly {
          readonly type: string;
          readonly httpGet: { readonly path: string; readonly port: number };
        }[];
      }[];
      readonly volumes: readonly {
        readonly name: string;
        readonly secrets: readonly { readonly secretRef: string; readonly path: string }[];
      }[];
    };
  };
}

/**
 * A Container App, as its template describes it.
 * @param parameters by name
 * @param vault by address
 * @throws Error when the parameters are not those of the template, or are not used, or a secret is not in the vault
 */
export function podOfApp(
  file: string,
  parameters: Readonly<Record<string, string>>,
  clientId: string,
  vault: Readonly<Record<string, string>>,
): Pod {
  const text = readFileSync(file, 'utf8');
  const used = new Set([...text.matchAll(/parameters\('(\w+)'\)/g)].map(([, name = '']) => name));
  const declared = Object.keys((JSON.parse(text) as { readonly parameters: Tree }).parameters);
  for (const [one, others] of [[used, declared] as const, [declared, Object.keys(parameters)] as const])
    if ([...one].sort().join() !== [...others].sort().join())
      throw new Error(`${file} uses or declares other parameters: ${[...one]}, and ${[...others]}`);
  const filled = text
    .replace(/\[parameters\('(\w+)'\)\]/g, (_, name: string) => parameters[name] ?? '')
    .replace(/\[reference\(parameters\('identityId'\), '[\d-]+'\)\.clientId\]/, clientId);
  const [app] = (JSON.parse(filled) as { readonly resources: readonly ContainerApp[] }).resources;
  const { configuration, template } = app?.properties ?? {};
  const [container] = template?.containers ?? [];
  if (!configuration || !template || !container) throw new Error(`${file} has no container`);
  const secretFiles = container.volumeMounts.flatMap(({ volumeName, mountPath }) => {
    const volume = template.volumes.find(({ name }) => name === volumeName);
    return (volume?.secrets ?? []).map(({ secretRef, path }) => {
      const content = vault[configuration.secrets.find(({ name }) => name === secretRef)?.keyVaultUrl ?? ''];
      if (content === undefined) throw new Error(`${file} has no secret ${secretRef}`);
      return [`${mountPath}/${path}`, content] as const;
    });
  });
  const image = imageOf('Dockerfile');
  return {
    command: image.command,
    environment: { ...image.environment, ...Object.fromEntries(container.env.map(({ name, value }) => [name, value])) },
    before: [],
    ports: { health: container.probes[0]?.httpGet.port ?? 0 },
    probes: container.probes.map(({ type, httpGet }) => ({ kind: `${type.toLowerCase()}Probe`, ...httpGet })),
    folders: [],
    secretFiles: Object.fromEntries(secretFiles),
    graceSeconds: template.terminationGracePeriodSeconds,
    clientId,
    pauseSeconds: 0,
  };
}

/** What the last stage of a Dockerfile says. */
export function imageOf(file: string): {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
} {
  const instructions = readDockerfile(readFileSync(file, 'utf8'));
  const last = instructions.slice(instructions.findLastIndex(({ verb }) => verb === 'FROM'));
  const of = (verb: string) => last.flatMap((one) => (one.verb === verb ? [one.argument] : []));
  const variables = of('ENV').map((argument) => argument.split(/=(.*)/s).slice(0, 2) as [string, string]);
  return {
    command: JSON.parse(of('CMD')[0] ?? '[]'),
    environment: Object.fromEntries(variables.filter(([, value]) => !value.startsWith('$'))),
  };
}
