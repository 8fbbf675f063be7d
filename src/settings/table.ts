import convict from 'convict';
import { mostToReserve } from '../protocol/body.ts';
import { day, gibibyte, hour, mebibyte, messageLimits } from './constants.ts';
import { settingFormats } from './formats.ts';

convict.addFormats(settingFormats);

const scopeFor = (what: string) =>
  `Scope of the tokens that \`IDENTITY\` gets for the ${what}; when empty, the token of \`BACKENDS_…\` is used there.`;
const ownAccountFor = (what: string) =>
  `Connection string of an account of its own for the ${what}; when empty, \`STORE_CONNECTION_STRING\` is used.`;
const ownUrlFor = (what: string) =>
  `URL of the blob service of an account of its own for the ${what}, used with \`IDENTITY\`.`;
const containerFor = (what: string) =>
  `Container of the ${what} with \`STORE=blob\`; created if it does not exist and the connection string allows it.`;

/** What each setting says, as operators read it. */
const sentences = {
  IDENTITY:
    'The identity of the process, for what has an address and no connection string: `workload` (the token file of a Kubernetes service account), `managed` (that of the machine or the app), or `developer` (that of the Azure CLI on this machine).',
  IDENTITY_CLIENT_ID:
    'Client id of the identity, if there are several: with `managed` of a user-assigned one, with `workload` instead of `AZURE_CLIENT_ID`.',
  IDENTITY_AUTHORITY_HOST:
    'Host that gives tokens for a workload’s identity; another one in a sovereign cloud, and then other scopes.',
  IDENTITY_HUB_SCOPE: 'Scope of the tokens for replies and methods.',
  IDENTITY_EVENTS_SCOPE: 'Scope of the tokens for reading a routed event hub.',
  IDENTITY_STORAGE_SCOPE: 'Scope of the tokens for storage accounts.',
  HUB_EVENTS_CONNECTION_STRING:
    'Connection string of the hub’s built-in event endpoint (Event Hub-compatible), with `EntityPath` and a listen right. Without it, the endpoint is looked up through `HUB_SERVICE_CONNECTION_STRING`, and again when the hub fails over (D401).',
  HUB_EVENTS_NAMESPACE:
    'Instead of that connection string: host name of the Event Hubs namespace with the event hub to which the hub routes its messages, read with `IDENTITY`.',
  HUB_EVENTS_NAME: 'Name of that event hub.',
  HUB_EVENTS_SENDERS:
    '`hub-only` states that nobody but the IoT hub may send to that event hub: who may send can name any device as the sender. Without it, it is not read (D367).',
  HUB_SERVICE_CONNECTION_STRING:
    'Connection string of the hub itself with the service connect right, for replies to devices and for methods of devices.',
  HUB_HOST_NAME: 'Instead of that connection string: host name of the hub, for replies and methods with `IDENTITY`.',
  HUB_TRANSPORT:
    'How the hub is read and sent replies: `amqp` (AMQP over TLS, port 5671) or `websockets` (AMQP over WebSockets, port 443, as firewalls and proxies allow) (D405).',
  HUB_CONSUMER_GROUP: 'Consumer group that only this service uses.',
  HUB_START_POSITION: 'Where a partition without a checkpoint is read from: `earliest` or `latest` (G1).',
  HTTPS_PROXY:
    'Proxy for addresses with TLS, as in `http://user:password@proxy:3128`: hub, backends, storage, tokens, collectors. Reading and replies need `HUB_TRANSPORT=websockets` with it (D406).',
  HTTP_PROXY: 'Proxy for addresses without TLS; it must allow CONNECT to them (D406).',
  NO_PROXY:
    'What is reached without a proxy, separated by commas: hosts, which stand for their subdomains, too; addresses; networks (`10.0.0.0/8`); `*` for all.',
  NETWORK_CA_FILE:
    'PEM file of certificate authorities to trust besides those of Node.js, for every connection (D407).',
  INFORMATION_MODEL_URL: 'Base URL of the information model service.',
  INFORMATION_MODEL_SCOPE: scopeFor('information model'),
  TYPE_REGISTRY_URL: 'Base URL of the type definition registry.',
  TYPE_REGISTRY_SCOPE: scopeFor('type registry'),
  PRINCIPAL_MANAGER_URL: 'Base URL of the principal manager.',
  PRINCIPAL_MANAGER_SCOPE: scopeFor('principal manager'),
  BACKENDS_TOKEN: 'Fixed bearer token for the backends, instead of the token endpoint.',
  BACKENDS_TOKEN_URL: 'OAuth2 token endpoint (client credentials) that issues the bearer tokens for the backends.',
  BACKENDS_CLIENT_ID: 'Client id for the token endpoint.',
  BACKENDS_CLIENT_SECRET: 'Client secret for the token endpoint.',
  BACKENDS_TOKEN_SCOPE: 'Scope for the token request; none when empty.',
  BACKENDS_ATTEMPT_TIMEOUT_SECONDS:
    'Time limit of one attempt at a backend call before it is retried, in seconds (B4).',
  BACKENDS_CONNECTIONS: 'Most connections to each backend.',
  BACKENDS_CACHE_SECONDS: 'How long the latest version of a type, and an identity, are cached, in seconds (B3).',
  DELIVERY_MAX_MESSAGES:
    'Most messages in flight (G2), half of them in one partition; the service uses no more of them than keep it busy (D163). Others wait in memory, or in the hub (D27); as many again may wait for their replies to be sent (D28).',
  DELIVERY_MAX_BYTES:
    'Most bytes of memory for the bodies of messages in flight (G2, R6), half of them in one partition. An eighth of it more is for messages whose replies are to be sent, and the whole of it again for the models that `Svc.Device.SyncModel` has fetched.',
  DELIVERY_DRAIN_SECONDS: 'How long a stop waits for the messages in flight, in seconds (G3).',
  REPLIES_SENDS_PER_MINUTE:
    'Most replies a minute; with 0 the service finds the limit of the hub itself. The limit applies to all senders together, 100 a minute for each unit of S1 and S2, 5,000 of S3: divide it by the number of instances (C4).',
  REPLIES_FULL_QUEUE_BYTES:
    'Most bytes of memory for messages whose replies wait for room in the full queues of their devices, 8 KiB for each and its replies; beyond it, those that have waited longest are dropped (C4).',
  DATA_DIRECTORY:
    'With `STORE=file`, folder for all files of the service, `checkpoints` and `dead-letters`, which must survive a restart.',
  STORE:
    'Where checkpoints and dead letters are kept: `file`, in the data directory (one instance), or `blob`, in an Azure storage account (one instance or several).',
  STORE_CONNECTION_STRING:
    'Connection string of the storage account: with the account’s key, or with a shared access signature. Files for methods need the key.',
  STORE_ACCOUNT_URL:
    'Instead of that connection string: URL of the blob service of the storage account, used with `IDENTITY`.',
  CHECKPOINTS_CONNECTION_STRING: ownAccountFor('checkpoints'),
  CHECKPOINTS_ACCOUNT_URL: ownUrlFor('checkpoints'),
  CHECKPOINTS_CONTAINER: containerFor('checkpoints'),
  DEAD_LETTERS_CONNECTION_STRING: ownAccountFor('dead letters'),
  DEAD_LETTERS_ACCOUNT_URL: ownUrlFor('dead letters'),
  DEAD_LETTERS_CONTAINER: containerFor('dead letters'),
  DEAD_LETTERS_MAX_BYTES: 'Most bytes of all dead letters together; beyond it the oldest are deleted.',
  DEAD_LETTERS_RETENTION_DAYS: 'Dead letters older than this, in days, are deleted.',
  HTTP_HOST: 'Address to listen on: for `/startupz`, `/livez` and `/readyz`, and for invocations of remote methods.',
  HTTP_PORT: 'Port of `/startupz`, `/livez` and `/readyz`; 0 selects a free one.',
  ADMIN_HOST: 'Address of the admin port. One that other machines can reach needs `ADMIN_TOKEN` (D100).',
  ADMIN_PORT: 'Port of the admin interface and of the tap; 0 selects a free one.',
  ADMIN_TOKEN:
    'Bearer token for the admin port, at least 16 characters. When empty, every program on this machine can use the port.',
  ADMIN_INSTANCES:
    'Admin ports of all instances, as `host:port` with commas between; a name with several addresses (a headless service) stands for each. Shown at `/fleet`, with the token of who asks.',
  LOG_LEVEL: 'Lowest level that is logged.',
  LOG_PRETTY: 'Lines for people at a terminal instead of JSON.',
  METHODS_PORT: 'Port of the front door for invocations; 0 selects a free one (M1).',
  METHODS_TLS_CERTIFICATE_FILE:
    'PEM file with the certificate chain of that port. When empty, the port uses plain HTTP and belongs behind an ingress with TLS (M1).',
  METHODS_TLS_KEY_FILE: 'PEM file with the key of that certificate.',
  METHODS_EDGE_MODULE:
    'Identity of the edge proxy on the device: a module of it, or the device itself when empty (M5).',
  METHODS_DRAIN_SECONDS: 'How long a stop waits for the invocations in flight, in seconds (M1).',
  METHODS_FILES_CONNECTION_STRING:
    'Connection string, with the account’s key, of an account of its own for the files of methods; when empty, `STORE_CONNECTION_STRING` is used.',
  METHODS_FILES_ACCOUNT_URL: ownUrlFor('files of methods'),
  METHODS_FILES_CONTAINER:
    'Container of the files for methods; it must not be that of the checkpoints or the dead letters. When empty, methods with files cannot be invoked (M9).',
  METHODS_FILES_TENANT_CLAIM:
    'Claim of the caller’s token whose value is the folder of the caller’s files; when empty, every authorised caller can use every file of the container (M9).',
  METHODS_FILES_MAX_BYTES: 'Largest file for a method, in bytes (M9).',
};
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
    instances: text('ADMIN_INSTANCES', 'addresses'),
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
