import convict from 'convict';
import { settingFormats } from './formats.ts';

convict.addFormats(settingFormats);

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** Every setting: what it does, its format, its default and its environment name. Secrets come from the environment only. */
export const schema = {
  hub: {
    eventsConnectionString: {
      doc: 'Connection string of the hub’s built-in event endpoint (Event Hub-compatible), with `EntityPath` and a listen right.',
      format: 'events-connection-string',
      default: '',
      env: 'HUB_EVENTS_CONNECTION_STRING',
      sensitive: true,
    },
    serviceConnectionString: {
      doc: 'Connection string of the hub itself with the service connect right, for replies to devices.',
      format: 'service-connection-string',
      default: '',
      env: 'HUB_SERVICE_CONNECTION_STRING',
      sensitive: true,
    },
    consumerGroup: {
      doc: 'Consumer group that belongs to this service alone.',
      format: 'text',
      default: '$Default',
      env: 'HUB_CONSUMER_GROUP',
    },
    deviceIdProperty: {
      doc: 'System property in which the hub stamps the id of the sending device (R1).',
      format: 'text',
      default: 'iothub-connection-device-id',
      env: 'HUB_DEVICE_ID_PROPERTY',
    },
    startPosition: {
      doc: 'Where a partition without a checkpoint is read from: `earliest` or `latest` (G1).',
      format: ['earliest', 'latest'],
      default: 'earliest',
      env: 'HUB_START_POSITION',
    },
    batchSize: {
      doc: 'Most events the hub client hands over at once.',
      format: 'count',
      default: 100,
      env: 'HUB_BATCH_SIZE',
    },
    prefetch: {
      doc: 'Most events the hub client holds for each partition.',
      format: 'count',
      default: 300,
      env: 'HUB_PREFETCH',
    },
    maxWaitSeconds: {
      doc: 'Longest silence of a partition, in seconds, before the hub client reports that it is alive.',
      format: 'count',
      default: 2,
      env: 'HUB_MAX_WAIT_SECONDS',
    },
  },
  backends: {
    informationModelUrl: {
      doc: 'Base URL of the information model service.',
      format: 'base-url',
      default: '',
      env: 'INFORMATION_MODEL_URL',
      sensitive: true,
    },
    typeRegistryUrl: {
      doc: 'Base URL of the type definition registry.',
      format: 'base-url',
      default: '',
      env: 'TYPE_REGISTRY_URL',
      sensitive: true,
    },
    principalManagerUrl: {
      doc: 'Base URL of the principal manager.',
      format: 'base-url',
      default: '',
      env: 'PRINCIPAL_MANAGER_URL',
      sensitive: true,
    },
    token: {
      doc: 'Fixed bearer token for the backends; instead of the token endpoint.',
      format: String,
      default: '',
      env: 'BACKENDS_TOKEN',
      sensitive: true,
    },
    tokenUrl: {
      doc: 'OAuth2 token endpoint (client credentials) that issues the bearer tokens for the backends.',
      format: 'optional-url',
      default: '',
      env: 'BACKENDS_TOKEN_URL',
      sensitive: true,
    },
    clientId: {
      doc: 'Client id for the token endpoint.',
      format: String,
      default: '',
      env: 'BACKENDS_CLIENT_ID',
    },
    clientSecret: {
      doc: 'Client secret for the token endpoint.',
      format: String,
      default: '',
      env: 'BACKENDS_CLIENT_SECRET',
      sensitive: true,
    },
    tokenScope: {
      doc: 'Scope to ask the token endpoint for; none when empty.',
      format: String,
      default: '',
      env: 'BACKENDS_TOKEN_SCOPE',
    },
    attemptTimeoutSeconds: {
      doc: 'Longest a single call to a backend may take before it is tried again, in seconds (B4).',
      format: 'count',
      default: 30,
      env: 'BACKENDS_ATTEMPT_TIMEOUT_SECONDS',
    },
    maxAnswerBytes: {
      doc: 'Largest answer of a backend that is read, in bytes.',
      format: 'count',
      default: 5 * mebibyte,
      env: 'BACKENDS_MAX_ANSWER_BYTES',
    },
    connections: {
      doc: 'Most connections to each backend.',
      format: 'count',
      default: 64,
      env: 'BACKENDS_CONNECTIONS',
    },
    circuitFailures: {
      doc: 'Failed attempts in a row, across devices, after which calls to a backend pause until a probe succeeds (B5).',
      format: 'count',
      default: 5,
      env: 'BACKENDS_CIRCUIT_FAILURES',
    },
    typeCacheSeconds: {
      doc: 'How long the latest version of a type is remembered, in seconds (B3).',
      format: 'count',
      default: 30,
      env: 'BACKENDS_TYPE_CACHE_SECONDS',
    },
    identityCacheSeconds: {
      doc: 'How long an identity look-up is remembered, in seconds (B3).',
      format: 'count',
      default: 10,
      env: 'BACKENDS_IDENTITY_CACHE_SECONDS',
    },
  },
  messages: {
    defaultTimeoutSeconds: {
      doc: 'Bound on the processing of a message that names none, in seconds (P2).',
      format: 'count',
      default: 300,
      env: 'MESSAGES_DEFAULT_TIMEOUT_SECONDS',
    },
    maxTimeoutSeconds: {
      doc: 'Largest `timeout` a message may ask for, in seconds (P2).',
      format: 'count',
      default: 900,
      env: 'MESSAGES_MAX_TIMEOUT_SECONDS',
    },
    maxInflatedBytes: {
      doc: 'Largest body a compressed message may inflate to, in bytes (R6).',
      format: 'count',
      default: 4 * mebibyte,
      env: 'MESSAGES_MAX_INFLATED_BYTES',
    },
    maxVersionGap: {
      doc: 'Most updates that one message makes up for when the stored version is behind its own (A4).',
      format: 'count',
      default: 100,
      env: 'MESSAGES_MAX_VERSION_GAP',
    },
    maxSyncModels: {
      doc: 'Most object models that one SyncModel fetches (A10).',
      format: 'count',
      default: 200,
      env: 'MESSAGES_MAX_SYNC_MODELS',
    },
    maxSyncBytes: {
      doc: 'Most bytes of object models that one SyncModel fetches (A10).',
      format: 'count',
      default: 8 * mebibyte,
      env: 'MESSAGES_MAX_SYNC_BYTES',
    },
  },
  replies: {
    maxWaitSeconds: {
      doc: 'How long a reply waits out a full device queue or a throttling hub before it is dropped, in seconds (C4).',
      format: 'count',
      default: 60,
      env: 'REPLIES_MAX_WAIT_SECONDS',
    },
    sendTimeoutSeconds: {
      doc: 'How long the hub may take to settle one reply before the connection is replaced, in seconds.',
      format: 'count',
      default: 10,
      env: 'REPLIES_SEND_TIMEOUT_SECONDS',
    },
    maxInFlight: {
      doc: 'Most replies that wait for the hub’s answer at once.',
      format: 'count',
      default: 256,
      env: 'REPLIES_MAX_IN_FLIGHT',
    },
  },
  delivery: {
    maxMessages: {
      doc: 'Most messages in work at once; beyond it the rest stays in the hub (G2).',
      format: 'count',
      default: 1000,
      env: 'DELIVERY_MAX_MESSAGES',
    },
    maxBytes: {
      doc: 'Most bytes of message bodies in work at once (G2).',
      format: 'count',
      default: 64 * mebibyte,
      env: 'DELIVERY_MAX_BYTES',
    },
    partitionMessages: {
      doc: 'Most messages of one partition in work at once (G2).',
      format: 'count',
      default: 500,
      env: 'DELIVERY_PARTITION_MESSAGES',
    },
    partitionBytes: {
      doc: 'Most bytes of message bodies of one partition in work at once (G2).',
      format: 'count',
      default: 32 * mebibyte,
      env: 'DELIVERY_PARTITION_BYTES',
    },
    deviceMessages: {
      doc: 'Most messages of one device that are kept in memory; the others wait on disk (G2).',
      format: 'count',
      default: 16,
      env: 'DELIVERY_DEVICE_MESSAGES',
    },
    spoolDirectory: {
      doc: 'Folder for the messages of devices that send faster than they can be served; need not survive anything.',
      format: 'text',
      default: '.data/spool',
      env: 'DELIVERY_SPOOL_DIRECTORY',
    },
    spoolBytes: {
      doc: 'Most bytes on disk for each partition; beyond it the partition waits.',
      format: 'count',
      default: 256 * mebibyte,
      env: 'DELIVERY_SPOOL_BYTES',
    },
    spoolMessages: {
      doc: 'Most messages on disk for each partition, each of which takes about 400 bytes of memory; beyond it the partition waits.',
      format: 'count',
      default: 100_000,
      env: 'DELIVERY_SPOOL_MESSAGES',
    },
    drainSeconds: {
      doc: 'How long a stop waits for the messages in work, in seconds (G3).',
      format: 'count',
      default: 25,
      env: 'DELIVERY_DRAIN_SECONDS',
    },
  },
  scaling: {
    roundSeconds: {
      doc: 'How often an instance renews what it reads and looks what the others read, in seconds.',
      format: 'count',
      default: 5,
      env: 'SCALING_ROUND_SECONDS',
    },
    expirySeconds: {
      doc: 'An instance that has not renewed for so long, in seconds, has lost its partitions to the others; at least three rounds.',
      format: 'count',
      default: 30,
      env: 'SCALING_EXPIRY_SECONDS',
    },
  },
  checkpoints: {
    store: {
      doc: 'Where progress is kept: `file` (one instance), `blob` (several instances) or `memory` (tests; refused in production).',
      format: ['file', 'blob', 'memory'],
      default: 'file',
      env: 'CHECKPOINTS_STORE',
    },
    directory: {
      doc: 'Folder of the `file` store; it must survive a restart.',
      format: 'text',
      default: '.data/checkpoints',
      env: 'CHECKPOINTS_DIRECTORY',
    },
    connectionString: {
      doc: 'Connection string of the storage account of the `blob` store: with the account’s key, or with a shared access signature.',
      format: 'storage-connection-string',
      default: '',
      env: 'CHECKPOINTS_CONNECTION_STRING',
      sensitive: true,
    },
    container: {
      doc: 'Container of the `blob` store; made when it is not there and the connection string allows it.',
      format: 'container-name',
      default: 'checkpoints',
      env: 'CHECKPOINTS_CONTAINER',
    },
    everyMessages: {
      doc: 'A partition’s progress is written after this many messages …',
      format: 'count',
      default: 100,
      env: 'CHECKPOINTS_EVERY_MESSAGES',
    },
    everySeconds: {
      doc: '… or after this many seconds, whichever comes first.',
      format: 'count',
      default: 5,
      env: 'CHECKPOINTS_EVERY_SECONDS',
    },
  },
  deadLetters: {
    store: {
      doc: 'Where messages that failed through the service’s own side are kept, to be replayed by an operator (G4): `directory`, or `blob` (shared by instances).',
      format: ['directory', 'blob'],
      default: 'directory',
      env: 'DEAD_LETTERS_STORE',
    },
    directory: {
      doc: 'Folder of the `directory` store.',
      format: 'text',
      default: '.data/dead-letters',
      env: 'DEAD_LETTERS_DIRECTORY',
    },
    connectionString: {
      doc: 'Connection string of the storage account of the `blob` store; that of the checkpoints when empty.',
      format: 'storage-connection-string',
      default: '',
      env: 'DEAD_LETTERS_CONNECTION_STRING',
      sensitive: true,
    },
    container: {
      doc: 'Container of the `blob` store; made when it is not there and the connection string allows it.',
      format: 'container-name',
      default: 'dead-letters',
      env: 'DEAD_LETTERS_CONTAINER',
    },
    deviceLetters: {
      doc: 'Most dead letters of one device; the oldest make room.',
      format: 'count',
      default: 1000,
      env: 'DEAD_LETTERS_OF_A_DEVICE',
    },
    maxLetters: {
      doc: 'Most dead letters in all; the oldest make room.',
      format: 'count',
      default: 100_000,
      env: 'DEAD_LETTERS_MAX',
    },
    maxBytes: {
      doc: 'Most bytes of all dead letters together; the oldest make room.',
      format: 'count',
      default: 1024 * mebibyte,
      env: 'DEAD_LETTERS_MAX_BYTES',
    },
    retentionDays: {
      doc: 'Dead letters that are older, in days, are deleted.',
      format: 'count',
      default: 14,
      env: 'DEAD_LETTERS_RETENTION_DAYS',
    },
  },
  http: {
    host: {
      doc: 'Address that `/livez` and `/readyz` listen on.',
      format: 'text',
      default: '0.0.0.0',
      env: 'HTTP_HOST',
    },
    port: {
      doc: 'Port that `/livez` and `/readyz` listen on; 0 takes a free one.',
      format: 'tcp-port',
      default: 8080,
      env: 'HTTP_PORT',
    },
  },
  log: {
    level: {
      doc: 'Least level that is logged.',
      format: ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
      default: 'info',
      env: 'LOG_LEVEL',
    },
  },
} satisfies convict.Schema<unknown>;

const typed = () => convict(schema);
export type Settings = ReturnType<ReturnType<typeof typed>['getProperties']>;
