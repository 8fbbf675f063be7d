import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCertificate } from '../../../src/access/secretFiles.ts';
import { atMost } from '../../../src/concurrency/waiting.ts';
import { checkSettings } from '../../../src/operations/checkDeployment.ts';
import { configDirectory, readMethodsSettings, readSettings, settingDocs } from '../../../src/settings/config.ts';
import { methodsSchema, schema } from '../../../src/settings/table.ts';
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
  /** The variables that are changed, from the right ones and the name of the setting. */
  readonly set: (right: Environment, name: string) => Environment;
  /** What the finding is about, and what it says, where NAME is that of the setting. */
  readonly what: string;
  readonly says: RegExp;
  readonly mark?: Found['mark'];
  /** The exit code with `--init`, where that is tried too. */
  readonly init?: number;
  /** Nothing that reading the settings alone finds. */
  readonly isOfProcess?: boolean;
}

/** What blobs need no folder for. */
const inFiles = (directory: string) => ({ STORE: 'file', STORE_CONNECTION_STRING: '', DATA_DIRECTORY: directory });

const wrongKey = 'd3Jvbmcta2V5LXdyb25nLWtleQ==';
const withWrongKey = `SharedAccessKey=${wrongKey}`;
const nowhere = 'no-such-host.invalid';
const to = (value: string) => (_: Environment, name: string) => ({ [name]: value });
type More = Pick<Row, 'mark' | 'init' | 'isOfProcess'>;
const finds = (what: string, set: Row['set'], says: RegExp, more: More = {}): Row => ({ set, what, says, ...more });
const invalid = (value: string, says: RegExp) => finds('settings', to(value), says);
const [begins, isWarning] = [{ init: 0 }, { mark: 'warning', init: 0 }] as const;
const replaced = (part: RegExp, by: string) => (right: Environment, name: string) => ({
  [name]: (right[name] ?? '').replace(part, by),
});
const key = /SharedAccessKey=[^;]*/;
const withWrongAccountKey = replaced(/AccountKey=[^;]*/, `AccountKey=${wrongKey}`);
const wrongAccount = (right: Environment, name: string) => ({
  [name]: withWrongAccountKey(right, 'STORE_CONNECTION_STRING')['STORE_CONNECTION_STRING'] ?? '',
});

/** Of a setting that only an identity uses. */
const withoutIdentity = (value: string) => invalid(value, /NAME needs IDENTITY beside it/);
const wrongScope = [invalid('a b', /NAME: must end with \/.default/)];

/** The event endpoint behind TLS. */
const withTls = (): Environment => ({
  HUB_EVENTS_CONNECTION_STRING: (ofService()['HUB_EVENTS_CONNECTION_STRING'] ?? '')
    .replace(/sb:\/\/[^;]*/, `sb://127.0.0.1:${sandbox.hub.ports.amqps}/`)
    .replace(';UseDevelopmentEmulator=true', ''),
});

/** Found when the process begins to use it. */
const unusable = (file: string, says: RegExp) => finds('settings', to(file), says, { isOfProcess: true });

const common: Readonly<Record<string, readonly Row[]>> = {
  IDENTITY: [
    invalid('guess', /IDENTITY: must be one of the possible values/),
    invalid('managed', /IDENTITY is not used/),
  ],
  IDENTITY_CLIENT_ID: [withoutIdentity('one')],
  IDENTITY_AUTHORITY_HOST: [invalid('http://x', /must be an https URL/)],
  IDENTITY_HUB_SCOPE: wrongScope,
  IDENTITY_EVENTS_SCOPE: wrongScope,
  IDENTITY_STORAGE_SCOPE: wrongScope,
  HUB_HOST_NAME: [
    withoutIdentity('hub.invalid'),
    invalid('hub.invalid', /HUB_SERVICE_CONNECTION_STRING and HUB_HOST_NAME are two ways/),
  ],
  STORE_ACCOUNT_URL: [withoutIdentity('https://account.invalid')],
  INFORMATION_MODEL_SCOPE: wrongScope,
  TYPE_REGISTRY_SCOPE: wrongScope,
  HUB_SERVICE_CONNECTION_STRING: [
    finds('service endpoint', replaced(key, withWrongKey), /must be those of a policy/, { init: 1 }),
    finds(
      'service endpoint',
      replaced(/HostName=[^;]*/, `HostName=${nowhere}`),
      /HUB_SERVICE_CONNECTION_STRING.*no such host: compare HostName/,
      begins,
    ),
    invalid('HostName=x', /SharedAccessKeyName, SharedAccessKey missing/),
  ],
  INFORMATION_MODEL_URL: [
    finds('information model', to(`http://${nowhere}`), /no such host: compare INFORMATION_MODEL_URL/, begins),
    finds(
      'information model',
      (right) => ({ INFORMATION_MODEL_URL: `${right['INFORMATION_MODEL_URL']}/wrong` }),
      /HTTP 404 .*base URL/,
      isWarning,
    ),
  ],
  TYPE_REGISTRY_URL: [finds('type registry', to('http://127.0.0.1:1'), /TYPE_REGISTRY_URL/, begins)],
  HTTPS_PROXY: [
    invalid('proxy:3128', /HTTPS_PROXY: must be the http or https address of a proxy/),
    finds(
      'service endpoint',
      () => ({ HTTPS_PROXY: 'http://127.0.0.1:1', HUB_TRANSPORT: 'websockets', ...withTls() }),
      /the proxy 127\.0\.0\.1:1 cannot be used: ECONNREFUSED .*→ compare HTTPS_PROXY/,
      begins,
    ),
  ],
  HTTP_PROXY: [
    finds('token endpoint', to('http://127.0.0.1:1'), /the proxy 127\.0\.0\.1:1 cannot be used: ECONNREFUSED/, begins),
  ],
  NO_PROXY: [invalid('a\tb', /NO_PROXY: must be without control/)],
  NETWORK_CA_FILE: [
    unusable('/none', /NETWORK_CA_FILE: \/none cannot be read \(ENOENT\)/),
    unusable('package.json', /NETWORK_CA_FILE: package.json has no certificate in PEM/),
  ],
  BACKENDS_TOKEN: [
    invalid('one-token', /two ways to get a token/),
    finds(
      'information model',
      () => ({ BACKENDS_TOKEN: 'not-the-right-token', BACKENDS_TOKEN_URL: '' }),
      /refuses the token: HTTP 401/,
    ),
  ],
  BACKENDS_TOKEN_URL: [finds('token endpoint', to('http://127.0.0.1:1'), /compare BACKENDS_TOKEN_URL/, begins)],
  BACKENDS_CLIENT_ID: [finds('token endpoint', to('nobody'), /HTTP 401/)],
  BACKENDS_CLIENT_SECRET: [finds('token endpoint', to(wrongKey), /HTTP 401/)],
  BACKENDS_TOKEN_SCOPE: [invalid('a\nb', /BACKENDS_TOKEN_SCOPE: must be without control/)],
  BACKENDS_ATTEMPT_TIMEOUT_SECONDS: [invalid('0', /whole number from 1/)],
  BACKENDS_CONNECTIONS: [
    invalid('10001', /whole number from 1 to 10000/),
    finds('open files', to('10000'), /BACKENDS_CONNECTIONS/, isWarning),
  ],
  BACKENDS_CACHE_SECONDS: [invalid('long', /whole number/)],
  CHECKPOINTS_CONTAINER: [invalid('Not_a_container', /lower-case letters/)],
  DEAD_LETTERS_CONTAINER: [invalid('-', /lower-case letters/)],
  STORE_CONNECTION_STRING: [invalid('AccountName=x', /storage account/)],
  HTTP_HOST: [invalid('a\tb', /HTTP_HOST: must be without control/)],
  HTTP_PORT: [invalid('70000', /must be a port/)],
  ADMIN_HOST: [invalid('0.0.0.0', /needs ADMIN_TOKEN/)],
  ADMIN_PORT: [invalid('-1', /must be a port/)],
  ADMIN_INSTANCES: [invalid('one', /must be host:port/)],
  ADMIN_TOKEN: [invalid('short', /at least 16/)],
  LOG_LEVEL: [invalid('loud', /LOG_LEVEL/)],
  LOG_PRETTY: [invalid('yes', /true or false/)],
};

const service: Readonly<Record<string, readonly Row[]>> = {
  ...common,
  HUB_EVENTS_CONNECTION_STRING: [
    finds('event endpoint', replaced(key, withWrongKey), /policy of this hub that may listen/),
    finds('event endpoint', replaced(/EntityPath=[^;]*/, 'EntityPath=another-hub'), /EntityPath|policy of this hub/),
    finds(
      'event endpoint',
      replaced(/Endpoint=[^;]*/, `Endpoint=sb://127.0.0.1:1/`),
      /ECONNREFUSED.* → nobody answers there: compare Endpoint/,
      begins,
    ),
    finds('event endpoint', to(''), /localhost:\d+\/sandbox-hub, named by the hub: 4 partitions/, { mark: 'ok' }),
    finds(
      'event endpoint',
      (right) => ({
        HUB_EVENTS_CONNECTION_STRING: '',
        ...replaced(key, withWrongKey)(right, 'HUB_SERVICE_CONNECTION_STRING'),
      }),
      /does not name its event endpoint: .*HUB_SERVICE_CONNECTION_STRING.* has service connect/,
    ),
  ],
  HUB_EVENTS_NAMESPACE: [
    withoutIdentity('namespace.invalid'),
    invalid('namespace.invalid', /read only with HUB_EVENTS_SENDERS=hub-only/),
  ],
  HUB_EVENTS_NAME: [invalid('events', /not used without HUB_EVENTS_NAMESPACE/)],
  HUB_EVENTS_SENDERS: [invalid('all', /HUB_EVENTS_SENDERS: must be one of/)],
  HUB_CONSUMER_GROUP: [invalid('a\nb', /HUB_CONSUMER_GROUP: must be without control/)],
  HUB_TRANSPORT: [
    invalid('mqtt', /HUB_TRANSPORT: must be one of/),
    invalid('websockets', /UseDevelopmentEmulator=true .* has none/),
    finds('settings', () => ({ HTTPS_PROXY: 'http://127.0.0.1:1', ...withTls() }), /AMQP at port 5671 passes no proxy/),
  ],
  HUB_START_POSITION: [invalid('first', /HUB_START_POSITION/)],
  PRINCIPAL_MANAGER_SCOPE: wrongScope,
  PRINCIPAL_MANAGER_URL: [invalid('ftp://x', /http or https URL/)],
  DELIVERY_MAX_MESSAGES: [invalid('0', /whole number from 1/)],
  DELIVERY_MAX_BYTES: [
    invalid('1000', /whole number from/),
    finds('memory', to('17179869184'), /DELIVERY_MAX_BYTES|MB/),
  ],
  DELIVERY_DRAIN_SECONDS: [invalid('1.5', /whole number/)],
  REPLIES_SENDS_PER_MINUTE: [invalid('-1', /whole number/)],
  REPLIES_FULL_QUEUE_BYTES: [invalid('1000', /1048576/)],
  DATA_DIRECTORY: [
    finds('disk', () => inFiles(inFolder('a-file')), /a part of its path is a file; set DATA_DIRECTORY/),
  ],
  STORE: [invalid('memory', /^STORE: must be one of/)],
  STORE_CONNECTION_STRING: [
    finds('checkpoint container', withWrongAccountKey, /403 .*STORE_CONNECTION_STRING/, { init: 1 }),
    finds(
      'checkpoint container',
      replaced(/BlobEndpoint=[^;]*/, 'BlobEndpoint=http://127.0.0.1:1/devstoreaccount1'),
      /STORE_CONNECTION_STRING.* → nobody answers there: compare AccountName or BlobEndpoint/,
      begins,
    ),
    ...(common['STORE_CONNECTION_STRING'] ?? []),
  ],
  CHECKPOINTS_CONNECTION_STRING: [finds('checkpoint container', wrongAccount, /CHECKPOINTS_CONNECTION_STRING/)],
  CHECKPOINTS_ACCOUNT_URL: [withoutIdentity('https://account.invalid')],
  DEAD_LETTERS_ACCOUNT_URL: [withoutIdentity('https://account.invalid')],
  DEAD_LETTERS_CONNECTION_STRING: [finds('dead-letter container', wrongAccount, /DEAD_LETTERS_CONNECTION_STRING/)],
  DEAD_LETTERS_MAX_BYTES: [invalid('0', /whole number/)],
  DEAD_LETTERS_RETENTION_DAYS: [invalid('0', /whole number/)],
  CONFIG_FILE: [
    finds('settings', () => ({ CONFIG_FILE: inFolder('wrong.json') }), /DELIVERY_MAX_MESSAGES/),
    finds('settings', to('/none.json'), /cannot be read/),
  ],
  'an unknown name': [
    finds(
      'variables',
      () => ({ HUB_CONSUMERGROUP: 'a' }),
      /HUB_CONSUMERGROUP is no setting → the nearest name is HUB_CONSUMER_GROUP/,
      isWarning,
    ),
  ],
  'an authority that is not trusted': [
    finds('service endpoint', () => ({ NODE_EXTRA_CA_CERTS: '' }), /not trusted: NETWORK_CA_FILE/),
  ],
};

const methods: Readonly<Record<string, readonly Row[]>> = {
  ...common,
  METHODS_PORT: [finds('settings', (right) => ({ METHODS_PORT: right['HTTP_PORT'] ?? '' }), /must differ/)],
  METHODS_TLS_CERTIFICATE_FILE: [
    finds(
      'settings',
      () => ({ METHODS_TLS_CERTIFICATE_FILE: '/none', METHODS_TLS_KEY_FILE: '/none' }),
      /cannot be read/,
    ),
  ],
  METHODS_TLS_KEY_FILE: [invalid('/none', /need each other/)],
  METHODS_EDGE_MODULE: [invalid('a\nb', /METHODS_EDGE_MODULE: must be without control/)],
  METHODS_DRAIN_SECONDS: [invalid('0', /whole number/)],
  METHODS_FILES_CONNECTION_STRING: [finds('files', withWrongAccountKey, /METHODS_FILES_CONNECTION_STRING/)],
  METHODS_FILES_ACCOUNT_URL: [withoutIdentity('https://account.invalid')],
  METHODS_FILES_CONTAINER: [finds('files', to('no-such-container'), /METHODS_FILES_CONTAINER/)],
  METHODS_FILES_TENANT_CLAIM: [invalid('a\nb', /must be without control/)],
  METHODS_FILES_MAX_BYTES: [invalid('0', /whole number/)],
};

/** Each secret in a file that is not there. */
const ofFiles = (own: typeof schema | typeof methodsSchema): Readonly<Record<string, readonly Row[]>> =>
  Object.fromEntries(
    settingDocs(own)
      .filter(({ holds = '' }) => holds !== '')
      .map(({ env, holds = '' }) => {
        const missing = () => ({ [holds]: '', [env]: '/none' });
        return [env, [finds('settings', missing, /^NAME: \/none cannot be read/)]];
      }),
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
    ...{ program: 'methods', args: ['methods'], rows: { ...methods, ...ofFiles(methodsSchema) } },
    ...{ environment: ofMethods, own: methodsSchema },
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
  it('has a row for every setting', () =>
    expect(settingDocs(own).filter(({ env }) => rows[env] === undefined)).toEqual([]));

  const each = Object.entries(rows).flatMap(([name, all]) =>
    all.map((row, index) => ({ ...row, name, index, says: new RegExp(row.says.source.replace(/\bNAME\b/, name)) })),
  );
  const isRead = ({ what, isOfProcess }: Row) => !isOfProcess && (what === 'settings' || what === 'variables');

  it.each(each.filter(isRead))(
    '$name, broken in way $index, is found',
    ({ name, set, what, says, mark = 'failure' }) => {
      const right = environment();
      const { settings, findings: found } = read({ ...right, ...set(right, name) });
      expect(found.filter((one) => one.what === what && says.test(lineOf(one)))).toEqual([
        expect.objectContaining({ mark }),
      ]);
      expect(settings === undefined).toBe(mark === 'failure');
    },
  );
  it('ends with 1 when a setting is wrong, also with --init, and tries nothing else', async () => {
    const wrong = { ...environment(), LOG_LEVEL: 'loud' };
    for (const options of [[], ['--init']]) {
      const { code, found } = await findings([...args, ...options], wrong, runWith(wrong));
      expect([code, found.map(({ what }) => what)]).toEqual([1, ['settings']]);
    }
  });

  const tried = each.filter((row) => !isRead(row));
  it.concurrent.each(tried)('$name, broken in way $index, is found', async ({ name, set, what, says, mark, init }) => {
    const right = environment();
    const wrong = { ...right, ...set(right, name) };
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
