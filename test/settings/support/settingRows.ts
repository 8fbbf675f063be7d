import { join } from 'node:path';

/**
 * The value of each setting, in the environment, and what gets it: a function of the service and the place in its
 * arguments, with what it finds there. All values differ.
 */
export type SettingRows = Readonly<Record<string, readonly [value: string, ...Receivers]>>;

export type Receivers = readonly (readonly [place: string, received: unknown])[];

interface Places {
  readonly directory: string;
  readonly httpPort: number;
  readonly adminPort: number;
  readonly methodsPort: number;
  /** Files, and what is in them. */
  readonly certificate: readonly [file: string, text: string];
  readonly key: readonly [file: string, text: string];
  readonly authority: readonly [file: string, text: string];
}

const secretKey = Buffer.from('not a key').toString('base64');
const nobody = `localhost:1;SharedAccessKeyName=n;SharedAccessKey=${secretKey}`;
const events = `Endpoint=sb://${nobody};EntityPath=hub;UseDevelopmentEmulator=true`;
const service = `HostName=${nobody}`;
const account = (name: string) =>
  `DefaultEndpointsProtocol=https;AccountName=${name};AccountKey=${secretKey};EndpointSuffix=core.windows.net`;

const im = 'http://im.invalid';
const tr = 'http://tr.invalid';
const pm = 'http://pm.invalid';
const login = 'http://login.invalid';

const tokenEndpoint: SettingRows = {
  BACKENDS_TOKEN_URL: [login, ['clientCredentials 0.tokenUrl', login]],
  BACKENDS_CLIENT_ID: ['client-1', ['clientCredentials 0.clientId', 'client-1']],
  BACKENDS_CLIENT_SECRET: ['s3cret', ['clientCredentials 0.clientSecret', 's3cret']],
  BACKENDS_TOKEN_SCOPE: ['scope-1', ['clientCredentials 0.tokenScope', 'scope-1']],
};

const backends: SettingRows = {
  INFORMATION_MODEL_URL: [im, ['createBackend(informationModel) 0.url', im]],
  TYPE_REGISTRY_URL: [tr, ['createBackend(typeRegistry) 0.url', tr]],
  BACKENDS_ATTEMPT_TIMEOUT_SECONDS: ['31', ['createTransport 1.attemptTimeoutMs', 31_000]],
  BACKENDS_CONNECTIONS: ['41', ['createTransport 1.connections', 41], ['createBulkhead 1', 41]],
};

const network = ({ authority: [file, text] }: Places): SettingRows => ({
  HTTPS_PROXY: ['http://one.invalid:3128', ['useProxies 0.https', 'http://one.invalid:3128']],
  HTTP_PROXY: ['http://two.invalid:3128', ['useProxies 0.http', 'http://two.invalid:3128']],
  NO_PROXY: ['localhost,three.invalid', ['useProxies 0.except', 'localhost,three.invalid']],
  NETWORK_CA_FILE: [file, ['trustAlso 0', text]],
});

const operations = ({ httpPort, adminPort }: Places): SettingRows => ({
  HTTP_HOST: ['127.0.0.1', ['serveHealth 0.host', '127.0.0.1']],
  HTTP_PORT: [String(httpPort), ['serveHealth 0.port', httpPort]],
  ADMIN_HOST: ['localhost', ['listen 1.host', 'localhost']],
  ADMIN_PORT: [String(adminPort), ['listen 1.port', adminPort]],
  ADMIN_TOKEN: ['the-token-of-operators', ['openAdmin 4', 'the-token-of-operators']],
  ADMIN_INSTANCES: ['one.invalid:8082', ['fleetRoute 0', 'one.invalid:8082']],
  LOG_LEVEL: ['fatal', ['createLog 0', 'fatal']],
  LOG_PRETTY: ['true', ['createLog 2.isPretty', true]],
});

/** The service with a fixed token, and with its stores in files. */
export const ofService = (places: Places): SettingRows => ({
  HUB_EVENTS_CONNECTION_STRING: [events, ['createConsumer 0.access', events]],
  HUB_SERVICE_CONNECTION_STRING: [service, ['newServiceClient 0', service]],
  HUB_CONSUMER_GROUP: ['group-1', ['createConsumer 0.consumerGroup', 'group-1']],
  HUB_START_POSITION: ['latest', ['createConsumer 0.startPosition', 'latest']],
  ...network(places),
  ...backends,
  PRINCIPAL_MANAGER_URL: [pm, ['createBackend(principalManager) 0.url', pm], ['principalManager 4', pm]],
  BACKENDS_TOKEN: ['t0ken', ['staticToken 0', 't0ken']],
  BACKENDS_CACHE_SECONDS: ['32', ['typeRegistry 3', 32_000], ['principalManager 3', 32_000]],
  DELIVERY_MAX_MESSAGES: [
    '502',
    ['createAdaptiveLimit 0.most', 502],
    ['createBudget 0.maxMessages', 502],
    ['createBudget 0.maxMessages', 251],
  ],
  DELIVERY_MAX_BYTES: ['90000000', ['createBudget 0.maxBytes', 90_000_000], ['createBudget 0.maxBytes', 45_000_000]],
  DELIVERY_DRAIN_SECONDS: ['33', ['createConsumer 0.drainMs', 33_000], ['balanceLimits 1', 33_000]],
  REPLIES_SENDS_PER_MINUTE: ['120', ['createRateLimit 0', 2]],
  REPLIES_FULL_QUEUE_BYTES: ['34000000', ['createBudget 0.sleepingBytes', 34_000_000]],
  DATA_DIRECTORY: [
    places.directory,
    ['createFileStore 0', join(places.directory, 'checkpoints')],
    ['createDirectory 0', join(places.directory, 'dead-letters')],
  ],
  DEAD_LETTERS_MAX_BYTES: ['92000000', ['createDeadLetters 0.limits.maxBytes', 92_000_000]],
  DEAD_LETTERS_RETENTION_DAYS: ['15', ['createDeadLetters 0.limits.retentionMs', 15 * 86_400_000]],
  ...operations(places),
});

/** The same, with the event endpoint that the hub names. */
export const ofLookUp = (places: Places): SettingRows => {
  const { HUB_EVENTS_CONNECTION_STRING: _, HUB_CONSUMER_GROUP: __, ...rest } = ofService(places);
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, [value]]) => [name, [value]] as const)),
    HUB_CONSUMER_GROUP: ['group-1', ['ofLookedUp 1', 'group-1']],
    HUB_START_POSITION: ['latest'],
  };
};

/** What the service does otherwise with a token endpoint and with its stores in blobs. */
export const ofSharedStore: SettingRows = {
  ...tokenEndpoint,
  STORE: ['blob', ['createBlobStore 0.container', 'progress'], ['createBlobs 0.container', 'letters']],
  STORE_CONNECTION_STRING: [
    account('zero'),
    ['createBlobStore 0.account', account('zero')],
    ['createBlobs 0.account', account('zero')],
  ],
  CHECKPOINTS_CONTAINER: ['progress', ['createBlobStore 0.container', 'progress']],
  DEAD_LETTERS_CONTAINER: ['letters', ['createBlobs 0.container', 'letters']],
};

/** An account of its own for each store wins. */
export const ofOwnAccounts: SettingRows = {
  ...tokenEndpoint,
  STORE: ['blob'],
  STORE_CONNECTION_STRING: [account('zero')],
  CHECKPOINTS_CONNECTION_STRING: [account('one'), ['createBlobStore 0.account', account('one')]],
  DEAD_LETTERS_CONNECTION_STRING: [account('two'), ['createBlobs 0.account', account('two')]],
};

const identity: SettingRows = {
  IDENTITY: ['managed', ['createIdentity 0.kind', 'managed']],
  IDENTITY_CLIENT_ID: ['client-2', ['createIdentity 0.clientId', 'client-2']],
  IDENTITY_AUTHORITY_HOST: ['https://login.invalid', ['createIdentity 0.authorityHost', 'https://login.invalid']],
  INFORMATION_MODEL_SCOPE: ['api://im/.default', ['identityTokens 0.scope', 'api://im/.default']],
  TYPE_REGISTRY_SCOPE: ['api://tr/.default', ['identityTokens 0.scope', 'api://tr/.default']],
  IDENTITY_HUB_SCOPE: ['https://hubs.invalid/.default'],
  IDENTITY_EVENTS_SCOPE: ['https://events.invalid/.default'],
  IDENTITY_STORAGE_SCOPE: ['https://storage.invalid/.default'],
};
const [hubScope = '', eventsScope = '', storageScope = ''] = ['HUB', 'EVENTS', 'STORAGE'].map(
  (name) => identity[`IDENTITY_${name}_SCOPE`]?.[0],
);

/** The service without keys: the routed event hub, and its stores in one account. */
export const ofIdentity = (places: Places): SettingRows => {
  const {
    HUB_EVENTS_CONNECTION_STRING: _,
    HUB_SERVICE_CONNECTION_STRING: __,
    BACKENDS_TOKEN: ___,
    ...rest
  } = ofService(places);
  const settings = ['INFORMATION_MODEL_URL', 'TYPE_REGISTRY_URL', 'HTTP_HOST', 'HTTP_PORT', 'ADMIN_PORT'];
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([name]) => settings.includes(name))),
    ...identity,
    PRINCIPAL_MANAGER_URL: [pm],
    PRINCIPAL_MANAGER_SCOPE: ['api://pm/.default', ['identityTokens 0.scope', 'api://pm/.default']],
    HUB_EVENTS_NAMESPACE: ['events.invalid:1', ['createConsumer 0.access.namespace', 'events.invalid:1']],
    HUB_EVENTS_NAME: ['routed', ['createConsumer 0.access.eventHub', 'routed']],
    // Allows the start.
    HUB_EVENTS_SENDERS: ['hub-only'],
    HUB_HOST_NAME: ['hub.invalid', ['newServiceClient 0.hostName', 'hub.invalid']],
    HUB_TRANSPORT: ['websockets', ['useHubTransport 0.transport', 'websockets']],
    IDENTITY_HUB_SCOPE: [hubScope, ['newServiceClient 0.credential.scope', hubScope]],
    IDENTITY_EVENTS_SCOPE: [eventsScope, ['createConsumer 0.access.credential.scope', eventsScope]],
    IDENTITY_STORAGE_SCOPE: [storageScope, ['createBlobStore 0.account.credential.scope', storageScope]],
    STORE: ['blob'],
    STORE_ACCOUNT_URL: [
      'https://zero.invalid',
      ['createBlobStore 0.account.url', 'https://zero.invalid'],
      ['createBlobs 0.account.url', 'https://zero.invalid'],
    ],
  };
};

/** An account of its own for each store wins. */
export const ofIdentityAndAccounts = (places: Places): SettingRows => ({
  ...ofIdentity(places),
  STORE_ACCOUNT_URL: ['https://zero.invalid'],
  CHECKPOINTS_ACCOUNT_URL: ['https://one.invalid', ['createBlobStore 0.account.url', 'https://one.invalid']],
  DEAD_LETTERS_ACCOUNT_URL: ['https://two.invalid', ['createBlobs 0.account.url', 'https://two.invalid']],
});

/** The front door without keys. */
export const ofDoorWithIdentity = (places: Places): SettingRows => ({
  ...identity,
  ...operations(places),
  INFORMATION_MODEL_URL: [im],
  TYPE_REGISTRY_URL: [tr],
  METHODS_PORT: [String(places.methodsPort)],
  HUB_HOST_NAME: ['hub.invalid', ['createDirectMethods 0.hostName', 'hub.invalid']],
  IDENTITY_HUB_SCOPE: [hubScope, ['createDirectMethods 0.credential.scope', hubScope]],
  IDENTITY_STORAGE_SCOPE: [storageScope, ['createFileStorage 0.account.credential.scope', storageScope]],
  STORE_ACCOUNT_URL: ['https://zero.invalid'],
  METHODS_FILES_CONTAINER: ['files'],
  METHODS_FILES_ACCOUNT_URL: ['https://three.invalid', ['createFileStorage 0.account.url', 'https://three.invalid']],
});

/** The front door with a token endpoint. */
export const ofFrontDoor = (places: Places): SettingRows => ({
  HUB_SERVICE_CONNECTION_STRING: [service, ['createDirectMethods 0', service]],
  ...network(places),
  ...backends,
  ...tokenEndpoint,
  BACKENDS_CACHE_SECONDS: ['32', ['lineages 3', 32_000]],
  METHODS_PORT: [String(places.methodsPort), ['listen 0.port', places.methodsPort]],
  METHODS_TLS_CERTIFICATE_FILE: [places.certificate[0], ['createServer 0.tls.cert', places.certificate[1]]],
  METHODS_TLS_KEY_FILE: [places.key[0], ['createServer 0.tls.key', places.key[1]]],
  METHODS_EDGE_MODULE: ['proxy-1', ['createInvoke 0.edgeModule', 'proxy-1']],
  METHODS_DRAIN_SECONDS: ['37', ['endsWithin 1', 36_500]],
  STORE_CONNECTION_STRING: [account('zero')],
  METHODS_FILES_CONNECTION_STRING: [account('three'), ['createFileStorage 0.account', account('three')]],
  METHODS_FILES_CONTAINER: ['files', ['createFileStorage 0.container', 'files']],
  METHODS_FILES_TENANT_CLAIM: ['tid', ['createFileInputs 0.tenantClaim', 'tid']],
  METHODS_FILES_MAX_BYTES: ['93000000', ['createFileStorage 0.maxBytes', 93_000_000]],
  ...operations(places),
});

/** The same without an account of its own for the files. */
export const ofSharedFiles = (places: Places): SettingRows => {
  const { METHODS_FILES_CONNECTION_STRING: _, ...others } = ofFrontDoor(places);
  return { ...others, STORE_CONNECTION_STRING: [account('zero'), ['createFileStorage 0.account', account('zero')]] };
};

/** The values that no operator would choose, where the service and the front door use them. */
export const constantsOfService: Receivers = [
  ['createConsumer 0.batchSize', 50],
  ['createConsumer 0.prefetch', 100],
  ['createConsumer 0.maxWaitSeconds', 0.1],
  ['createConsumer 0.silentMs', 11_000],
  ['createConsumer 0.answerMs', 20_000],
  ['createAdaptiveLimit 0.least', 48],
  ['createBacklog 0.maxMessages', 50_000],
  ['createBacklog 0.maxBytes', 64 * 1024 * 1024],
  ['limitsOfPartition 0.everyMessages', 500],
  ['limitsOfPartition 0.everyMs', 5_000],
  ['createConsumer 0.roundMs', 5_000],
  ['balanceLimits 0', 30_000],
  ['createProcessPauseWatch 0', 15_000],
  ['quarantineOfPartition 0.mostSuspects', 251],
  ['createSendQueue 1', 256],
  ['createSender 0.maxWaitMs', 60_000],
  ['createSender 0.answerWithinMs', 10_000],
  ['createDeadLetters 0.limits.deviceLetters', 1_000],
  ['createDeadLetters 0.limits.maxLetters', 100_000],
];

export const constantsOfLookUp: Receivers = [
  ['readFoundEndpoint 0.limits.unreadMs', 30_000],
  ['readFoundEndpoint 0.limits.eventlessMs', 120_000],
  ['readFoundEndpoint 0.limits.othersMs', 183_000],
  ['findEndpoint 1', 15_000],
];

export const constantsOfFrontDoor: Receivers = [
  ['createConcurrencyLimits 0.inFlight', 1_000],
  ['createConcurrencyLimits 0.inFlightPerDevice', 10],
];
