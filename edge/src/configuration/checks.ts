import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { ConfigurationFile, Module } from './schema.ts';

/** The configuration is invalid; each problem names its line and its place. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** What is wrong at a place of the file, such as `modules[0].id`. */
export type Problem = readonly [place: string, what: string];

/** Problems between values of the file (M10). */
export const crossCheck = (file: ConfigurationFile): Problem[] => [
  ...betweenSettings(file),
  ...duplicates(file.modules, 'id', ({ id }) => [[id, 'id']]),
  ...duplicates(file.modules, 'object id', objectIds),
  ...duplicates(file.modules, 'identity', ({ identity }) => (identity === undefined ? [] : [[identity, 'identity']])),
  ...duplicates(file.modules, 'target', ({ gateway }) => indexed(gateway?.targets ?? [], 'gateway.targets')),
  ...duplicates(file.modules, 'folder', ({ files }) =>
    files ? [[files.folder.replace(/\/+$/, ''), 'files.folder']] : [],
  ),
  ...overlappingTopics(file.modules),
  ...reachability(file.modules),
];

type Located = readonly [value: string, path: string];

const indexed = (values: readonly string[], path: string): Located[] =>
  values.map((value, index) => [value, `${path}[${index}]`]);

const objectIds = ({ objectIds: own, gateway }: Module): Located[] =>
  [...indexed(own, 'objectIds'), ...indexed(gateway?.objectIds ?? [], 'gateway.objectIds')].map(([id, path]) => [
    id.toLowerCase(),
    path,
  ]);

function betweenSettings({ hub, broker, limits }: ConfigurationFile): Problem[] {
  const problems: Problem[] = [];
  const hasPassword = broker.password !== undefined || broker.passwordFile !== undefined;
  if ((hub.connectionString === undefined) === (hub.connectionStringFile === undefined))
    problems.push(['hub', 'exactly one of connectionString and connectionStringFile is required']);
  if (broker.password !== undefined && broker.passwordFile !== undefined)
    problems.push(['broker', 'only one of password and passwordFile is allowed']);
  if (hasPassword && broker.username === undefined) problems.push(['broker.username', 'is required with a password']);
  for (const [place, { certificateFile, keyFile }] of Object.entries({ hub, broker }))
    if ((certificateFile === undefined) !== (keyFile === undefined))
      problems.push([place, 'certificateFile and keyFile require each other']);
  if (limits.inFlightPerModule > limits.inFlight)
    problems.push(['limits.inFlightPerModule', 'must not be more than limits.inFlight']);
  return problems;
}

function duplicates(modules: readonly Module[], what: string, valuesOf: (module: Module) => readonly Located[]) {
  const seen = new Map<string, string>();
  const problems: Problem[] = [];
  for (const [index, module] of modules.entries()) {
    for (const [value, member] of valuesOf(module)) {
      const path = `modules[${index}].${member}`;
      const first = seen.get(value);
      if (first === undefined) seen.set(value, path);
      else problems.push([path, `the ${what} ${JSON.stringify(value)} is already used in ${first}`]);
    }
  }
  return problems;
}

/** Topics that are equal, or one below the other, would mix requests and replies. */
function overlappingTopics(modules: readonly Module[]): Problem[] {
  const topics = modules.flatMap(({ topics_methods_in, topics_methods_out }, index) => [
    { topic: topics_methods_in, path: `modules[${index}].topics_methods_in` },
    { topic: topics_methods_out, path: `modules[${index}].topics_methods_out` },
  ]);
  const seen = new Map<string, string>();
  const problems: Problem[] = [];
  // Shorter topics first, so that each comes after its prefixes.
  for (const { topic, path } of topics.toSorted((a, b) => a.topic.length - b.topic.length)) {
    const prefix = prefixesOf(topic).find((prefix) => seen.has(prefix));
    if (prefix !== undefined) {
      problems.push([path, `the topic is ${prefix === topic ? 'the same as' : 'below'} ${seen.get(prefix)}`]);
    }
    if (!seen.has(topic)) seen.set(topic, path);
  }
  return problems;
}

const prefixesOf = (topic: string): string[] => {
  const segments = topic.split('/');
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'));
};

const reachability = (modules: readonly Module[]): Problem[] =>
  modules.flatMap(({ objectIds: own, identity, gateway }, index): Problem[] => {
    const place = `modules[${index}]`;
    if (identity !== undefined)
      return own.length === 0 ? [] : [[place, 'only one of objectIds and identity is allowed']];
    const served = own.length + (gateway?.objectIds.length ?? 0) + (gateway?.targets.length ?? 0);
    const unreachable =
      'no invocation can reach it: it has neither objectIds nor an identity, and serves nothing as a gateway';
    return served === 0 ? [[place, unreachable]] : [];
  });

/** With what the proxy signs in to the hub: the key in the connection string, or a certificate (D426). */
export interface HubCredentials {
  readonly connectionString: string;
  /** PEM. */
  readonly certificate?: string;
  readonly key?: string;
}

/** The hub's client does not name the missing parts. `file` is that of the connection string, if it is in one. */
export function credentialProblems(hub: HubCredentials, file: string | undefined): Problem[] {
  const { connectionString, certificate, key } = hub;
  const place = file === undefined ? 'hub.connectionString' : 'hub.connectionStringFile';
  const has = (name: string) => partOf(connectionString, name) !== undefined;
  const isPair = certificate !== undefined && key !== undefined;
  if (!isPair && has('x509')) return [[place, 'has x509: hub.certificateFile and hub.keyFile are required']];
  if (isPair && has('SharedAccessKey'))
    return [[place, 'has a SharedAccessKey, and hub.certificateFile names a certificate: remove one of them']];
  const missing = ['HostName', 'DeviceId', ...(isPair ? [] : ['SharedAccessKey'])].filter((name) => !has(name));
  const form = `HostName=…;DeviceId=…;${isPair ? 'x509=true' : 'SharedAccessKey=…'}`;
  if (missing.length > 0) return [[place, `has no ${missing.join(', no ')}: ${form} is required`]];
  return isPair ? pairProblems(certificate, key) : [];
}

function pairProblems(certificate: string, key: string): Problem[] {
  const own = attempt(() => new X509Certificate(certificate));
  if (!own) return [['hub.certificateFile', 'has no certificate in the form PEM']];
  const secret = attempt(() => createPrivateKey(key));
  if (!secret) return [['hub.keyFile', 'has no key in the form PEM, or one with a passphrase']];
  return own.checkPrivateKey(secret)
    ? []
    : [['hub.keyFile', 'is not the key of the certificate in hub.certificateFile']];
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** A part of a connection string, as `HostName`; undefined when it is missing. */
export const partOf = (connectionString: string, name: string): string | undefined =>
  new RegExp(`(?:^|;)\\s*${name}\\s*=\\s*([^;]*)`).exec(connectionString)?.[1]?.trim();
