import convict from 'convict';
import { mostToReserve } from '../protocol/body.ts';
import { day, gibibyte, hour, mebibyte, messageLimits } from './constants.ts';
import { settingFormats } from './formats.ts';
import sentences from './sentences.json' with { type: 'json' };

convict.addFormats(settingFormats);

/** A setting without a sentence for operators does not compile. */
type Variable = keyof typeof sentences;

interface Setting<T> extends Bounds {
  readonly doc: string;
  readonly format: string | string[];
  readonly default: T;
  readonly env: string;
  readonly sensitive?: true;
  /** Of a setting that names a file with a secret: the variable of the secret (D396). */
  readonly holds?: string;
}

type Bounds = { readonly minimum?: number; readonly maximum?: number };

function setting<T>(env: Variable, format: string | string[], fallback: T, bounds?: Bounds): Setting<T> {
  return { doc: sentences[env], format, ...bounds, default: fallback, env };
}

const text = (env: Variable, format = 'optional-text', fallback = '') => setting(env, format, fallback);

/** It may hold a password. */
const address = (env: Variable, format: string): Setting<string> => ({ ...text(env, format), sensitive: true });

/** A secret, and the setting that names a file with it, to which `File` and `_FILE` are added (D396). */
const secret = <Name extends string>(name: Name, env: Variable, format: string) =>
  ({
    [name]: address(env, format),
    [`${name}File`]: {
      doc: `File with the value of \`${env}\`, read again when it changes.`,
      ...{ format: 'optional-text', default: '', env: `${env}_FILE`, holds: env },
    },
  }) as { readonly [N in Name | `${Name}File`]: Setting<string> };

/** A message larger than the limit of its partition would never start. */
const leastBytes = 2 * mostToReserve(messageLimits.maxInflatedBytes);
const ofFullQueues = { minimum: mebibyte, maximum: 16 * gibibyte };

/** Every setting of the service and of the front door. Secrets come from the environment, or from files of their own. */
export const everySetting = {
  /** The platform's identity of the process, instead of keys (D365). */
  identity: {
    kind: setting('IDENTITY', ['', 'workload', 'managed', 'developer'], ''),
    clientId: text('IDENTITY_CLIENT_ID'),
    authorityHost: text('IDENTITY_AUTHORITY_HOST', 'https-url', 'https://login.microsoftonline.com'),
    hubScope: text('IDENTITY_HUB_SCOPE', 'token-scope', 'https://iothubs.azure.net/.default'),
    eventsScope: text('IDENTITY_EVENTS_SCOPE', 'token-scope', 'https://eventhubs.azure.net/.default'),
    storageScope: text('IDENTITY_STORAGE_SCOPE', 'token-scope', 'https://storage.azure.com/.default'),
  },
  hub: {
    ...secret('eventsConnectionString', 'HUB_EVENTS_CONNECTION_STRING', 'events-connection-string'),
    eventsNamespace: text('HUB_EVENTS_NAMESPACE', 'host-name'),
    eventsName: text('HUB_EVENTS_NAME'),
    eventsSenders: setting('HUB_EVENTS_SENDERS', ['', 'hub-only'], ''),
    ...secret('serviceConnectionString', 'HUB_SERVICE_CONNECTION_STRING', 'service-connection-string'),
    hostName: text('HUB_HOST_NAME', 'host-name'),
    transport: setting('HUB_TRANSPORT', ['amqp', 'websockets'], 'amqp'),
    consumerGroup: text('HUB_CONSUMER_GROUP', 'text', '$Default'),
    startPosition: setting('HUB_START_POSITION', ['earliest', 'latest'], 'earliest'),
  },
  /** How other machines are reached: the same for every connection of a program (D406, D407). */
  network: {
    ...secret('httpsProxy', 'HTTPS_PROXY', 'proxy'),
    ...secret('httpProxy', 'HTTP_PROXY', 'proxy'),
    noProxy: text('NO_PROXY'),
    caFile: text('NETWORK_CA_FILE'),
  },
  backends: {
    informationModelUrl: address('INFORMATION_MODEL_URL', 'base-url'),
    informationModelScope: text('INFORMATION_MODEL_SCOPE', 'optional-token-scope'),
    typeRegistryUrl: address('TYPE_REGISTRY_URL', 'base-url'),
    typeRegistryScope: text('TYPE_REGISTRY_SCOPE', 'optional-token-scope'),
    principalManagerUrl: address('PRINCIPAL_MANAGER_URL', 'base-url'),
    principalManagerScope: text('PRINCIPAL_MANAGER_SCOPE', 'optional-token-scope'),
    ...secret('token', 'BACKENDS_TOKEN', 'bearer-token'),
    tokenUrl: address('BACKENDS_TOKEN_URL', 'optional-url'),
    clientId: text('BACKENDS_CLIENT_ID'),
    ...secret('clientSecret', 'BACKENDS_CLIENT_SECRET', 'optional-text'),
    tokenScope: text('BACKENDS_TOKEN_SCOPE'),
    attemptTimeoutSeconds: setting('BACKENDS_ATTEMPT_TIMEOUT_SECONDS', 'count', 30, { maximum: hour }),
    connections: setting('BACKENDS_CONNECTIONS', 'count', 128, { maximum: 10_000 }),
    cacheSeconds: setting('BACKENDS_CACHE_SECONDS', 'count', 30, { maximum: day }),
  },
  delivery: {
    maxMessages: setting('DELIVERY_MAX_MESSAGES', 'count', 1000, { maximum: 100_000 }),
    maxBytes: setting('DELIVERY_MAX_BYTES', 'count', 64 * mebibyte, { minimum: leastBytes, maximum: 16 * gibibyte }),
    drainSeconds: setting('DELIVERY_DRAIN_SECONDS', 'count', 25, { maximum: hour }),
  },
  replies: {
    sendsPerMinute: setting('REPLIES_SENDS_PER_MINUTE', 'count-or-none', 0, { maximum: 1_000_000 }),
    fullQueueBytes: setting('REPLIES_FULL_QUEUE_BYTES', 'count', 32 * mebibyte, ofFullQueues),
  },
  data: { directory: text('DATA_DIRECTORY', 'text', '.data') },
  /** One decision for everything that is kept (D292). */
  store: {
    kind: setting('STORE', ['file', 'blob'], 'file'),
    ...secret('connectionString', 'STORE_CONNECTION_STRING', 'storage-connection-string'),
    accountUrl: address('STORE_ACCOUNT_URL', 'optional-https-url'),
  },
  checkpoints: {
    ...secret('connectionString', 'CHECKPOINTS_CONNECTION_STRING', 'storage-connection-string'),
    accountUrl: address('CHECKPOINTS_ACCOUNT_URL', 'optional-https-url'),
    container: text('CHECKPOINTS_CONTAINER', 'container-name', 'checkpoints'),
  },
  deadLetters: {
    ...secret('connectionString', 'DEAD_LETTERS_CONNECTION_STRING', 'storage-connection-string'),
    accountUrl: address('DEAD_LETTERS_ACCOUNT_URL', 'optional-https-url'),
    container: text('DEAD_LETTERS_CONTAINER', 'container-name', 'dead-letters'),
    maxBytes: setting('DEAD_LETTERS_MAX_BYTES', 'count', gibibyte, { maximum: 1024 * gibibyte }),
    retentionDays: setting('DEAD_LETTERS_RETENTION_DAYS', 'count', 14, { maximum: 3650 }),
  },
  http: { host: text('HTTP_HOST', 'text', '0.0.0.0'), port: setting('HTTP_PORT', 'tcp-port', 8080) },
  /** The other ports are for others: probes, scrapers, callers of methods. This one is for people who operate the service. */
  admin: {
    host: text('ADMIN_HOST', 'text', '127.0.0.1'),
    port: setting('ADMIN_PORT', 'tcp-port', 8082),
    ...secret('token', 'ADMIN_TOKEN', 'admin-token'),
  },
  log: {
    level: setting('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal'], 'info'),
    pretty: setting('LOG_PRETTY', 'flag', false),
  },
  methods: {
    port: setting('METHODS_PORT', 'tcp-port', 8081),
    tlsCertificateFile: text('METHODS_TLS_CERTIFICATE_FILE'),
    tlsKeyFile: text('METHODS_TLS_KEY_FILE'),
    edgeModule: text('METHODS_EDGE_MODULE'),
    drainSeconds: setting('METHODS_DRAIN_SECONDS', 'count', 25, { maximum: hour }),
  },
  files: {
    ...secret('connectionString', 'METHODS_FILES_CONNECTION_STRING', 'signing-connection-string'),
    accountUrl: address('METHODS_FILES_ACCOUNT_URL', 'optional-https-url'),
    container: text('METHODS_FILES_CONTAINER', 'optional-container-name'),
    tenantClaim: text('METHODS_FILES_TENANT_CLAIM'),
    maxBytes: setting('METHODS_FILES_MAX_BYTES', 'count', 100 * mebibyte, { maximum: 1024 * gibibyte }),
  },
} satisfies convict.Schema<unknown>;

const { methods, files, ...ofService } = everySetting;
const { identity, hub, network, backends, store, checkpoints, deadLetters, http, admin, log } = everySetting;

export const schema = ofService;

const { principalManagerUrl: _, principalManagerScope: __, ...backendsOfMethods } = backends;
const { serviceConnectionString, serviceConnectionStringFile, hostName } = hub;
const { connectionString, connectionStringFile, accountUrl } = store;

/** Every setting of the front door (M1). It has the other two containers to keep the files of methods out of them (M9). */
export const methodsSchema = {
  identity,
  hub: { serviceConnectionString, serviceConnectionStringFile, hostName },
  network,
  backends: backendsOfMethods,
  methods,
  files,
  store: { connectionString, connectionStringFile, accountUrl },
  checkpoints: { container: checkpoints.container },
  deadLetters: { container: deadLetters.container },
  ...{ http, admin, log },
} satisfies convict.Schema<unknown>;

type ValuesOf<Schema> = {
  -readonly [Group in keyof Schema]: {
    -readonly [Name in keyof Schema[Group]]: Schema[Group][Name] extends Setting<infer Value> ? Value : never;
  };
};
export type Settings = ValuesOf<typeof schema>;
export type MethodsSettings = ValuesOf<typeof methodsSchema>;

/** Settings, or what describes them, by group and name. */
export type Groups<Value = unknown> = Readonly<Record<string, Readonly<Record<string, Value>>>>;

/** @param path `group.name` */
export function settingIn(groups: object, path: string): unknown {
  const [group = '', name = ''] = path.split('.');
  const members: unknown = Reflect.get(groups, group);
  const has = typeof members === 'object' && members !== null && Object.hasOwn(members, name);
  return has ? Reflect.get(members, name) : undefined;
}

export type SettingDoc = ReturnType<typeof settingDocs>[number];

/** Every setting in the order of a schema; by default those of the service and the front door. */
export function settingDocs(of: Groups = everySetting) {
  return Object.entries(of as Groups<Setting<unknown>>).flatMap(([group, members]) =>
    Object.entries(members).map(([name, { doc, env, default: fallback, sensitive = false, holds }]) => ({
      ...{ path: `${group}.${name}`, env, doc, default: String(fallback) },
      secret: sensitive && !/url/i.test(name),
      ...(holds !== undefined && { holds }),
    })),
  );
}
