import { beforeAll, describe, expect, it } from 'vitest';
import { configDirectory, readMethodsSettings, readSettings } from '../../../src/settings/config.ts';
import { settingProblems } from '../../settings/support/settingProblems.ts';
import { type StorageAccount, storageAccount } from '../../support/storageAccount.ts';
import { sandboxForAll } from '../testSandbox.ts';
import { type Found, findings } from './run.ts';

// The command beside a hub, backends and a storage account. What each of its probes makes of an answer is in
// test/operations/probes.test.ts, and what the settings must be in test/settings/config.test.ts.

const sandbox = sandboxForAll({ service: false, methods: 'prepared', keepsContracts: false });
let storage: StorageAccount;
beforeAll(async () => (storage = await storageAccount()));

type Environment = Readonly<Record<string, string>>;
const ofService = (): Environment => ({
  ...sandbox.state.service.environment,
  ...{ STORE: 'blob', STORE_CONNECTION_STRING: storage.connectionString },
});
const ofMethods = (): Environment => sandbox.state.methods?.environment ?? {};

const wrongKey = 'd3Jvbmcta2V5LXdyb25nLWtleQ==';

/** The connection string of a variable with another key, or with another part. */
const replaced = (name: string, part: RegExp, by: string) => (right: Environment) => ({
  [name]: (right[name] ?? '').replace(part, by),
});
const withWrongKey = (name: string) => replaced(name, /SharedAccessKey=[^;]*/, `SharedAccessKey=${wrongKey}`);
const withWrongAccountKey = (name: string) => replaced(name, /AccountKey=[^;]*/, `AccountKey=${wrongKey}`);

interface Row {
  readonly name: string;
  /** The variables that are changed, from the right ones. */
  readonly set: (right: Environment) => Environment;
  /** What the finding is about, and what it says. */
  readonly what: string;
  readonly says: RegExp;
  readonly mark?: Found['mark'];
  /** The exit code with `--init`, which is otherwise that without. */
  readonly init?: number;
}

const serviceEndpoint: Row = {
  ...{ name: 'a wrong key for the hub', set: withWrongKey('HUB_SERVICE_CONNECTION_STRING'), what: 'service endpoint' },
  says: /must be those of a policy/,
};

const service: readonly Row[] = [
  serviceEndpoint,
  {
    ...{ name: 'a hub that is not there', what: 'service endpoint', init: 0 },
    set: replaced('HUB_SERVICE_CONNECTION_STRING', /HostName=[^;]*/, 'HostName=no-such-host.invalid'),
    says: /HUB_SERVICE_CONNECTION_STRING.*no such host: compare HostName/,
  },
  {
    ...{ name: 'a wrong base URL', what: 'information model', mark: 'warning', init: 0 },
    set: (right) => ({ INFORMATION_MODEL_URL: `${right['INFORMATION_MODEL_URL']}/wrong` }),
    says: /HTTP 404 .*base URL/,
  },
  {
    ...{ name: 'a wrong key for events', set: withWrongKey('HUB_EVENTS_CONNECTION_STRING'), what: 'event endpoint' },
    says: /policy of this hub that may listen/,
  },
  {
    ...{ name: 'an event endpoint that the hub names', set: () => ({ HUB_EVENTS_CONNECTION_STRING: '' }) },
    ...{ what: 'event endpoint', says: /localhost:\d+\/sandbox-hub, named by the hub: 4 partitions/, mark: 'ok' },
  },
  {
    ...{ name: 'an event endpoint that the hub does not name', what: 'event endpoint' },
    set: (right) => ({ HUB_EVENTS_CONNECTION_STRING: '', ...serviceEndpoint.set(right) }),
    says: /does not name its event endpoint: .*HUB_SERVICE_CONNECTION_STRING.* has service connect/,
  },
  {
    ...{ name: 'a wrong key of the account', set: withWrongAccountKey('STORE_CONNECTION_STRING') },
    ...{ what: 'checkpoint container', says: /403 .*STORE_CONNECTION_STRING/ },
  },
  {
    ...{ name: 'no file with authorities', set: () => ({ NETWORK_CA_FILE: '/none' }), what: 'settings' },
    says: /NETWORK_CA_FILE: \/none cannot be read \(ENOENT\)/,
  },
];

const methods: readonly Row[] = [
  serviceEndpoint,
  {
    ...{ name: 'a wrong key of the account', set: withWrongAccountKey('METHODS_FILES_CONNECTION_STRING') },
    ...{ what: 'files', says: /METHODS_FILES_CONNECTION_STRING/ },
  },
  {
    ...{
      name: 'no file with the certificate',
      what: 'settings',
      says: /METHODS_TLS_CERTIFICATE_FILE.* cannot be read/,
    },
    set: () => ({ METHODS_TLS_CERTIFICATE_FILE: '/none', METHODS_TLS_KEY_FILE: '/none' }),
  },
];

describe.each([
  { program: 'service', args: [], environment: ofService, rows: service },
  { program: 'front door', args: ['methods'], environment: ofMethods, rows: methods },
])('the check of the $program', ({ args, environment, rows }) => {
  it('finds nothing wrong with the right settings, and ends with 0', async () => {
    const { code, found } = await findings(args, environment());
    expect([code, found.filter(({ mark }) => mark !== 'ok')]).toEqual([0, []]);
  });
  it.each(rows)('finds $name', async ({ set, what, says, mark = 'failure', init }) => {
    const wrong = { ...environment(), ...set(environment()) };
    const { code, found, text } = await findings(args, wrong);
    const bad = found.filter((one) => one.what === what && says.test(`${one.found} → ${one.todo ?? ''}`));
    expect(bad, text).toMatchObject([{ mark }]);
    expect(text).not.toContain(wrongKey);
    const expected = { ok: 0, warning: 2, failure: 1 }[mark];
    expect(code, text).toBe(expected);
    if (mark !== 'ok') expect((await findings([...args, '--init'], wrong)).code).toBe(init ?? expected);
  });
  it('ends with 1 when a setting is wrong, also with --init, and tries nothing else', async () => {
    for (const options of [[], ['--init']]) {
      const { code, found } = await findings([...args, ...options], { ...environment(), LOG_LEVEL: 'loud' });
      expect([code, found.map(({ what }) => what)]).toEqual([1, ['settings']]);
    }
  });
});

describe('of the settings that no other test has wrong,', () => {
  it.each<[says: string, value: string, ofService: readonly string[], ofMethods?: readonly string[]]>([
    [
      'must end with /.default',
      'a b',
      [
        ...['IDENTITY_EVENTS_SCOPE', 'IDENTITY_STORAGE_SCOPE', 'INFORMATION_MODEL_SCOPE', 'TYPE_REGISTRY_SCOPE'],
        'PRINCIPAL_MANAGER_SCOPE',
      ],
    ],
    [
      'must be without control characters',
      'a\nb',
      ['HUB_CONSUMER_GROUP', 'HTTP_HOST', 'NO_PROXY', 'BACKENDS_TOKEN_SCOPE'],
      ['METHODS_EDGE_MODULE', 'METHODS_FILES_TENANT_CLAIM'],
    ],
    [
      'must be a whole number',
      '-1',
      ['REPLIES_SENDS_PER_MINUTE'],
      ['METHODS_DRAIN_SECONDS', 'METHODS_FILES_MAX_BYTES'],
    ],
    ['must be a port', '-1', ['ADMIN_PORT']],
    ['must be an http or https URL', 'ftp://x', ['TYPE_REGISTRY_URL', 'PRINCIPAL_MANAGER_URL']],
    ['must be host:port', 'one', ['ADMIN_INSTANCES']],
    ['must be one of', 'mqtt', ['HUB_TRANSPORT']],
    ['must be true or false', 'yes', ['LOG_PRETTY']],
    ['is not used without HUB_EVENTS_NAMESPACE', 'events', ['HUB_EVENTS_NAME']],
  ])('each that %s does not take %j', (says, value, names, more = []) => {
    const read = (env: Environment) => settingProblems(env, configDirectory, readSettings);
    const readMethods = (env: Environment) => settingProblems(env, configDirectory, readMethodsSettings);
    const problem = (name: string) => expect.stringMatching(new RegExp(`${name}.*${says}`));
    for (const name of names) expect(read({ ...ofService(), [name]: value }), name).toContainEqual(problem(name));
    for (const name of more) expect(readMethods({ ...ofMethods(), [name]: value }), name).toContainEqual(problem(name));
  });
});
