import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkSettings } from '../../../src/check/checkSettings.ts';
import { atMost } from '../../../src/concurrency/atMost.ts';
import { readCertificate } from '../../../src/methods/certificate.ts';
import { configDirectory, readMethodsSettings, readSettings, settingDocs } from '../../../src/settings/config.ts';
import { methodsSchema, schema } from '../../../src/settings/schema.ts';
import { type StorageAccount, storageAccount } from '../../support/storageAccount.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { check, type Found, findings, openSharedChecks } from './run.ts';

// The command beside a hub, backends and a storage account, with each setting broken in turn.

const sandbox = sandboxForAll({ service: false, methods: 'prepared', keepsContracts: false });
let storage: StorageAccount;
let shared: ReturnType<typeof openSharedChecks>;
beforeAll(async () => {
  storage = await storageAccount();
  shared = openSharedChecks({ NODE_EXTRA_CA_CERTS: sandbox.hub.caFile });
  await writeFile(inFolder('a-file'), '');
  await writeFile(inFolder('wrong.json'), '{ "delivery": { "maxMessages": "many" } }');
});
afterAll(() => shared?.close());

const inFolder = (name: string) => join(sandbox.directory, name);

type Environment = Readonly<Record<string, string>>;
const ofService = (): Environment => ({
  ...sandbox.state.service.environment,
  ...{ STORE: 'blob', STORE_CONNECTION_STRING: storage.connectionString },
});
const ofMethods = (): Environment => sandbox.state.methods?.environment ?? {};

interface Row {
  /** The variables that are changed. */
  readonly set: (right: Environment) => Environment;
  /** What the finding is about, and what it says. */
  readonly what: string;
  readonly says: RegExp;
  readonly mark?: Found['mark'];
  /** The exit code with `--init`, where that is tried too. */
  readonly init?: number;
  /** Nothing that reading the settings alone finds. */
  readonly isOfProcess?: boolean;
}

const wrongKey = 'd3Jvbmcta2V5LXdyb25nLWtleQ==';
const nowhere = 'no-such-host.invalid';
const to = (name: string, value: string) => () => ({ [name]: value });
const invalid = (name: string, value: string, says: RegExp): Row => ({ set: to(name, value), what: 'settings', says });
const replaced = (name: string, part: RegExp, by: string) => (right: Environment) => ({
  [name]: (right[name] ?? '').replace(part, by),
});
const key = /SharedAccessKey=[^;]*/;
const wrongAccountKey = replaced('STORE_CONNECTION_STRING', /AccountKey=[^;]*/, `AccountKey=${wrongKey}`);
const accountOf = (name: string) => (right: Environment) => ({
  [name]: wrongAccountKey(right)['STORE_CONNECTION_STRING'] ?? '',
});

/** Of a setting that only an identity uses. */
const withoutIdentity = (name: string, value: string) =>
  invalid(name, value, new RegExp(`${name} needs IDENTITY beside it`));
const wrongScope = (name: string) => [invalid(name, 'a b', new RegExp(`${name}: must end with /.default`))];

/** The event endpoint behind TLS. */
const withTls = (): Environment => ({
  HUB_EVENTS_CONNECTION_STRING: (ofService()['HUB_EVENTS_CONNECTION_STRING'] ?? '')
    .replace(/sb:\/\/[^;]*/, `sb://127.0.0.1:${sandbox.hub.ports.amqps}/`)
    .replace(';UseDevelopmentEmulator=true', ''),
});

/** Found when the process begins to use it. */
const unusable = (file: string, says: RegExp): Row => ({
  ...{ set: to('NETWORK_CA_FILE', file), what: 'settings', says, isOfProcess: true },
});

const common: Readonly<Record<string, readonly Row[]>> = {
  IDENTITY: [
    invalid('IDENTITY', 'guess', /IDENTITY: must be one of the possible values/),
    invalid('IDENTITY', 'managed', /IDENTITY is not used/),
  ],
  IDENTITY_CLIENT_ID: [withoutIdentity('IDENTITY_CLIENT_ID', 'one')],
  IDENTITY_AUTHORITY_HOST: [invalid('IDENTITY_AUTHORITY_HOST', 'http://x', /must be an https URL/)],
  IDENTITY_HUB_SCOPE: wrongScope('IDENTITY_HUB_SCOPE'),
  IDENTITY_EVENTS_SCOPE: wrongScope('IDENTITY_EVENTS_SCOPE'),
  IDENTITY_STORAGE_SCOPE: wrongScope('IDENTITY_STORAGE_SCOPE'),
  HUB_HOST_NAME: [
    withoutIdentity('HUB_HOST_NAME', 'hub.invalid'),
    invalid('HUB_HOST_NAME', 'hub.invalid', /HUB_SERVICE_CONNECTION_STRING and HUB_HOST_NAME are two ways/),
  ],
  STORE_ACCOUNT_URL: [withoutIdentity('STORE_ACCOUNT_URL', 'https://account.invalid')],
  INFORMATION_MODEL_SCOPE: wrongScope('INFORMATION_MODEL_SCOPE'),
  TYPE_REGISTRY_SCOPE: wrongScope('TYPE_REGISTRY_SCOPE'),
  HUB_SERVICE_CONNECTION_STRING: [
    {
      set: replaced('HUB_SERVICE_CONNECTION_STRING', key, `SharedAccessKey=${wrongKey}`),
      what: 'service endpoint',
      says: /must be those of a policy/,
      init: 1,
    },
    {
      set: replaced('HUB_SERVICE_CONNECTION_STRING', /HostName=[^;]*/, `HostName=${nowhere}`),
      what: 'network of service endpoint',
      says: /no such host: compare HostName of HUB_SERVICE_CONNECTION_STRING/,
      init: 0,
    },
    invalid('HUB_SERVICE_CONNECTION_STRING', 'HostName=x', /SharedAccessKeyName, SharedAccessKey missing/),
  ],
  INFORMATION_MODEL_URL: [
    {
      set: to('INFORMATION_MODEL_URL', `http://${nowhere}`),
      what: 'network of information model',
      says: /no such host: compare INFORMATION_MODEL_URL/,
      init: 0,
    },
    {
      set: (right) => ({ INFORMATION_MODEL_URL: `${right['INFORMATION_MODEL_URL']}/wrong` }),
      what: 'information model',
      says: /HTTP 404 .*base URL/,
      mark: 'warning',
      init: 0,
    },
  ],
  TYPE_REGISTRY_URL: [
    {
      set: to('TYPE_REGISTRY_URL', 'http://127.0.0.1:1'),
      what: 'type registry',
      says: /TYPE_REGISTRY_URL/,
      init: 0,
    },
  ],
  HTTPS_PROXY: [
    invalid('HTTPS_PROXY', 'proxy:3128', /HTTPS_PROXY: must be the http or https address of a proxy/),
    {
      set: () => ({ HTTPS_PROXY: 'http://127.0.0.1:1', HUB_TRANSPORT: 'websockets', ...withTls() }),
      what: 'network of service endpoint',
      says: /the proxy 127\.0\.0\.1:1 cannot be used: ECONNREFUSED → compare HTTPS_PROXY/,
      init: 0,
    },
  ],
  HTTP_PROXY: [
    {
      set: to('HTTP_PROXY', 'http://127.0.0.1:1'),
      what: 'network of information model',
      says: /the proxy 127\.0\.0\.1:1 cannot be used: ECONNREFUSED/,
      init: 0,
    },
  ],
  NO_PROXY: [invalid('NO_PROXY', 'a\tb', /NO_PROXY: must be without control/)],
  NETWORK_CA_FILE: [
    unusable('/none', /NETWORK_CA_FILE: \/none cannot be read \(ENOENT\)/),
    unusable('package.json', /NETWORK_CA_FILE: package.json has no certificate in PEM/),
  ],
  BACKENDS_TOKEN: [
    invalid('BACKENDS_TOKEN', 'one-token', /two ways to get a token/),
    {
      set: () => ({ BACKENDS_TOKEN: 'not-the-right-token', BACKENDS_TOKEN_URL: '' }),
      what: 'information model',
      says: /refuses the token: HTTP 401/,
    },
  ],
  BACKENDS_TOKEN_URL: [
    {
      set: to('BACKENDS_TOKEN_URL', 'http://127.0.0.1:1'),
      what: 'token endpoint',
      says: /compare BACKENDS_TOKEN_URL/,
      init: 0,
    },
  ],
  BACKENDS_CLIENT_ID: [{ set: to('BACKENDS_CLIENT_ID', 'nobody'), what: 'token endpoint', says: /HTTP 401/ }],
  BACKENDS_CLIENT_SECRET: [{ set: to('BACKENDS_CLIENT_SECRET', wrongKey), what: 'token endpoint', says: /HTTP 401/ }],
  BACKENDS_TOKEN_SCOPE: [invalid('BACKENDS_TOKEN_SCOPE', 'a\nb', /BACKENDS_TOKEN_SCOPE: must be without control/)],
  BACKENDS_ATTEMPT_TIMEOUT_SECONDS: [invalid('BACKENDS_ATTEMPT_TIMEOUT_SECONDS', '0', /whole number from 1/)],
  BACKENDS_CONNECTIONS: [
    invalid('BACKENDS_CONNECTIONS', '10001', /whole number from 1 to 10000/),
    {
      set: to('BACKENDS_CONNECTIONS', '10000'),
      what: 'open files',
      says: /BACKENDS_CONNECTIONS/,
      mark: 'warning',
      init: 0,
    },
  ],
  BACKENDS_CACHE_SECONDS: [invalid('BACKENDS_CACHE_SECONDS', 'long', /whole number/)],
  CHECKPOINTS_CONTAINER: [invalid('CHECKPOINTS_CONTAINER', 'Not_a_container', /lower-case letters/)],
  DEAD_LETTERS_CONTAINER: [invalid('DEAD_LETTERS_CONTAINER', '-', /lower-case letters/)],
  STORE_CONNECTION_STRING: [invalid('STORE_CONNECTION_STRING', 'AccountName=x', /storage account/)],
  HTTP_HOST: [invalid('HTTP_HOST', 'a\tb', /HTTP_HOST: must be without control/)],
  HTTP_PORT: [invalid('HTTP_PORT', '70000', /must be a port/)],
  ADMIN_HOST: [invalid('ADMIN_HOST', '0.0.0.0', /needs ADMIN_TOKEN/)],
  ADMIN_PORT: [invalid('ADMIN_PORT', '-1', /must be a port/)],
  ADMIN_TOKEN: [invalid('ADMIN_TOKEN', 'short', /at least 16/)],
  LOG_LEVEL: [invalid('LOG_LEVEL', 'loud', /LOG_LEVEL/)],
  LOG_PRETTY: [invalid('LOG_PRETTY', 'yes', /true or false/)],
};

const service: Readonly<Record<string, readonly Row[]>> = {
  ...common,
  HUB_EVENTS_CONNECTION_STRING: [
    {
      set: replaced('HUB_EVENTS_CONNECTION_STRING', key, `SharedAccessKey=${wrongKey}`),
      what: 'event endpoint',
      says: /policy of this hub that may listen/,
    },
    {
      set: replaced('HUB_EVENTS_CONNECTION_STRING', /EntityPath=[^;]*/, 'EntityPath=another-hub'),
      what: 'event endpoint',
      says: /EntityPath|policy of this hub/,
    },
    {
      set: replaced('HUB_EVENTS_CONNECTION_STRING', /Endpoint=[^;]*/, `Endpoint=sb://127.0.0.1:1/`),
      what: 'network of event endpoint',
      says: /ECONNREFUSED → nobody answers there: compare Endpoint/,
      init: 0,
    },
    {
      set: to('HUB_EVENTS_CONNECTION_STRING', ''),
      what: 'event endpoint',
      says: /localhost:\d+\/sandbox-hub, named by the hub: 4 partitions/,
      mark: 'ok',
    },
    {
      set: (right) => ({
        HUB_EVENTS_CONNECTION_STRING: '',
        ...replaced('HUB_SERVICE_CONNECTION_STRING', key, `SharedAccessKey=${wrongKey}`)(right),
      }),
      what: 'event endpoint',
      says: /does not name its event endpoint: .*HUB_SERVICE_CONNECTION_STRING.* has service connect/,
    },
  ],
  HUB_EVENTS_NAMESPACE: [
    withoutIdentity('HUB_EVENTS_NAMESPACE', 'namespace.invalid'),
    invalid('HUB_EVENTS_NAMESPACE', 'namespace.invalid', /read only with HUB_EVENTS_SENDERS=hub-only/),
  ],
  HUB_EVENTS_NAME: [invalid('HUB_EVENTS_NAME', 'events', /not used without HUB_EVENTS_NAMESPACE/)],
  HUB_EVENTS_SENDERS: [invalid('HUB_EVENTS_SENDERS', 'all', /HUB_EVENTS_SENDERS: must be one of/)],
  HUB_CONSUMER_GROUP: [invalid('HUB_CONSUMER_GROUP', 'a\nb', /HUB_CONSUMER_GROUP: must be without control/)],
  HUB_TRANSPORT: [
    invalid('HUB_TRANSPORT', 'mqtt', /HUB_TRANSPORT: must be one of/),
    invalid('HUB_TRANSPORT', 'websockets', /UseDevelopmentEmulator=true .* has none/),
    {
      set: () => ({ HTTPS_PROXY: 'http://127.0.0.1:1', ...withTls() }),
      what: 'settings',
      says: /AMQP at port 5671 passes no proxy/,
    },
  ],
  HUB_FAILOVER_POSITION: [invalid('HUB_FAILOVER_POSITION', 'before', /HUB_FAILOVER_POSITION/)],
  HUB_START_POSITION: [invalid('HUB_START_POSITION', 'first', /HUB_START_POSITION/)],
  PRINCIPAL_MANAGER_SCOPE: wrongScope('PRINCIPAL_MANAGER_SCOPE'),
  PRINCIPAL_MANAGER_URL: [invalid('PRINCIPAL_MANAGER_URL', 'ftp://x', /http or https URL/)],
  DELIVERY_MAX_MESSAGES: [invalid('DELIVERY_MAX_MESSAGES', '0', /whole number from 1/)],
  DELIVERY_MAX_BYTES: [
    invalid('DELIVERY_MAX_BYTES', '1000', /whole number from/),
    { set: to('DELIVERY_MAX_BYTES', '17179869184'), what: 'memory', says: /DELIVERY_MAX_BYTES|MB/ },
  ],
  DELIVERY_DRAIN_SECONDS: [invalid('DELIVERY_DRAIN_SECONDS', '1.5', /whole number/)],
  REPLIES_SENDS_PER_MINUTE: [invalid('REPLIES_SENDS_PER_MINUTE', '-1', /whole number/)],
  DATA_DIRECTORY: [
    { set: () => ({ DATA_DIRECTORY: inFolder('a-file') }), what: 'disk', says: /a part of its path is a file/ },
    { set: to('DATA_DIRECTORY', '/proc/none'), what: 'disk', says: /DATA_DIRECTORY/ },
  ],
  STORE: [invalid('STORE', 'memory', /^STORE: must be one of/)],
  STORE_CONNECTION_STRING: [
    { set: wrongAccountKey, what: 'checkpoint container', says: /403 .*STORE_CONNECTION_STRING/, init: 1 },
    {
      set: replaced(
        'STORE_CONNECTION_STRING',
        /BlobEndpoint=[^;]*/,
        'BlobEndpoint=http://127.0.0.1:1/devstoreaccount1',
      ),
      what: 'network of checkpoints',
      says: /nobody answers there: compare STORE_CONNECTION_STRING/,
      init: 0,
    },
    ...(common['STORE_CONNECTION_STRING'] ?? []),
  ],
  CHECKPOINTS_CONNECTION_STRING: [
    {
      set: accountOf('CHECKPOINTS_CONNECTION_STRING'),
      what: 'checkpoint container',
      says: /CHECKPOINTS_CONNECTION_STRING/,
    },
  ],
  CHECKPOINTS_ACCOUNT_URL: [withoutIdentity('CHECKPOINTS_ACCOUNT_URL', 'https://account.invalid')],
  DEAD_LETTERS_ACCOUNT_URL: [withoutIdentity('DEAD_LETTERS_ACCOUNT_URL', 'https://account.invalid')],
  DEAD_LETTERS_CONNECTION_STRING: [
    {
      set: accountOf('DEAD_LETTERS_CONNECTION_STRING'),
      what: 'dead-letter container',
      says: /DEAD_LETTERS_CONNECTION_STRING/,
    },
  ],
  DEAD_LETTERS_MAX_BYTES: [invalid('DEAD_LETTERS_MAX_BYTES', '0', /whole number/)],
  DEAD_LETTERS_RETENTION_DAYS: [invalid('DEAD_LETTERS_RETENTION_DAYS', '0', /whole number/)],
  CONFIG_FILE: [
    { set: () => ({ CONFIG_FILE: inFolder('wrong.json') }), what: 'settings', says: /DELIVERY_MAX_MESSAGES/ },
    { set: to('CONFIG_FILE', '/none.json'), what: 'settings', says: /cannot be read/ },
  ],
  'an unknown name': [
    {
      set: to('HUB_CONSUMERGROUP', 'a'),
      what: 'variables',
      says: /HUB_CONSUMERGROUP is no setting → the nearest name is HUB_CONSUMER_GROUP/,
      mark: 'warning',
      init: 0,
    },
  ],
  'an authority that is not trusted': [
    {
      set: to('NODE_EXTRA_CA_CERTS', ''),
      what: 'network of service endpoint',
      says: /not trusted: NETWORK_CA_FILE/,
    },
  ],
};

const methods: Readonly<Record<string, readonly Row[]>> = {
  ...common,
  METHODS_PORT: [
    { set: (right) => ({ METHODS_PORT: right['HTTP_PORT'] ?? '' }), what: 'settings', says: /must differ/ },
  ],
  METHODS_TLS_CERTIFICATE_FILE: [
    {
      set: () => ({ METHODS_TLS_CERTIFICATE_FILE: '/none', METHODS_TLS_KEY_FILE: '/none' }),
      what: 'settings',
      says: /cannot be read/,
    },
  ],
  METHODS_TLS_KEY_FILE: [invalid('METHODS_TLS_KEY_FILE', '/none', /need each other/)],
  METHODS_EDGE_MODULE: [invalid('METHODS_EDGE_MODULE', 'a\nb', /METHODS_EDGE_MODULE: must be without control/)],
  METHODS_DRAIN_SECONDS: [invalid('METHODS_DRAIN_SECONDS', '0', /whole number/)],
  METHODS_FILES_CONNECTION_STRING: [
    {
      set: replaced('METHODS_FILES_CONNECTION_STRING', /AccountKey=[^;]*/, `AccountKey=${wrongKey}`),
      what: 'files',
      says: /METHODS_FILES_CONNECTION_STRING/,
    },
  ],
  METHODS_FILES_ACCOUNT_URL: [withoutIdentity('METHODS_FILES_ACCOUNT_URL', 'https://account.invalid')],
  METHODS_FILES_CONTAINER: [
    { set: to('METHODS_FILES_CONTAINER', 'no-such-container'), what: 'files', says: /METHODS_FILES_CONTAINER/ },
  ],
  METHODS_FILES_TENANT_CLAIM: [invalid('METHODS_FILES_TENANT_CLAIM', 'a\nb', /must be without control/)],
  METHODS_FILES_MAX_BYTES: [invalid('METHODS_FILES_MAX_BYTES', '0', /whole number/)],
};

/** Each secret in a file that is not there. */
const ofFiles = (own: typeof schema | typeof methodsSchema): Readonly<Record<string, readonly Row[]>> =>
  Object.fromEntries(
    settingDocs(own).flatMap(({ env, holds = '' }) =>
      holds === ''
        ? []
        : [
            [
              env,
              [
                {
                  set: () => ({ [holds]: '', [env]: '/none' }),
                  what: 'settings',
                  says: new RegExp(`^${env}: /none cannot be read`),
                },
              ],
            ],
          ],
    ),
  );

const inTurn = atMost(3);
/** A process trusts what it is told at its start, and has one proxy. */
const runWith = ({ NODE_EXTRA_CA_CERTS: caFile, NETWORK_CA_FILE, HTTPS_PROXY }: Environment) =>
  caFile === sandbox.hub.caFile && !NETWORK_CA_FILE && !HTTPS_PROXY ? shared.check : check;
const lineOf = ({ found, todo = '' }: Found) => `${found} → ${todo}`;

describe.each([
  {
    ...{ program: 'service', args: [], rows: { ...service, ...ofFiles(schema) }, environment: ofService, own: schema },
    read: (env: Environment) => checkSettings(() => readSettings(env, configDirectory), env),
  },
  {
    ...{
      program: 'methods',
      args: ['methods'],
      rows: { ...methods, ...ofFiles(methodsSchema) },
      environment: ofMethods,
      own: methodsSchema,
    },
    read: (env: Environment) =>
      checkSettings(() => {
        const settings = readMethodsSettings(env, configDirectory);
        readCertificate(settings.methods);
        return settings;
      }, env),
  },
])('of the $program', ({ args, rows, environment, own, read }) => {
  it('finds nothing wrong with the right settings, and ends with 0', async () => {
    const { code, found } = await findings(args, environment());
    expect(found.filter(({ mark }) => mark !== 'ok')).toEqual([]);
    expect(code).toBe(0);
  });

  it('has a row for every setting', () => {
    expect(settingDocs(own).filter(({ env }) => rows[env] === undefined)).toEqual([]);
  });

  const each = Object.entries(rows).flatMap(([name, all]) => all.map((row, index) => ({ name, index, ...row })));
  const isRead = ({ what, isOfProcess }: Row) => !isOfProcess && (what === 'settings' || what === 'variables');

  it.each(each.filter(isRead))('$name, broken in way $index, is found', ({ set, what, says, mark = 'failure' }) => {
    const right = environment();
    const { settings, findings: found } = read({ ...right, ...set(right) });
    expect(found.filter((one) => one.what === what && says.test(lineOf(one)))).toEqual([
      expect.objectContaining({ mark }),
    ]);
    expect(settings === undefined).toBe(mark === 'failure');
  });

  it('ends with 1 when a setting is wrong, also with --init, and tries nothing else', async () => {
    const wrong = { ...environment(), LOG_LEVEL: 'loud' };
    for (const options of [[], ['--init']]) {
      const { code, found } = await findings([...args, ...options], wrong, runWith(wrong));
      expect([code, found.map(({ what }) => what)]).toEqual([1, ['settings']]);
    }
  });

  const tried = each.filter((row) => !isRead(row));
  it.concurrent.each(tried)('$name, broken in way $index, is found', async ({ set, what, says, mark, init }) => {
    const right = environment();
    const wrong = { ...right, ...set(right) };
    const { code, found, text } = await inTurn(() => findings(args, wrong, runWith(wrong)));
    const bad = found.filter((one) => one.what === what && says.test(lineOf(one)));
    expect(bad, text).not.toEqual([]);
    expect(text).not.toContain(wrongKey);
    if (what === 'memory') return; // this machine may have enough
    expect(bad[0]?.mark).toBe(mark ?? 'failure');
    expect(code, text).toBe({ ok: 0, warning: 2, failure: 1 }[mark ?? 'failure']);
    if (init === undefined) return;
    const begun = await inTurn(() => findings([...args, '--init'], wrong, runWith(wrong)));
    expect(begun.code, begun.text).toBe(init);
  });
});
