import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { envExample, required, settingsPage, withRequiredSettings } from '../../scripts/settingsPages.ts';
import {
  configDirectory,
  fileEffect,
  prefixes,
  readSettings,
  settingDocs,
  strayVariables,
} from '../../src/settings/config.ts';
import { timing } from '../../src/settings/constants.ts';
import { accountOf, placeOf, processPauseMs, roundMs, settleWithinMs } from '../../src/settings/derived.ts';
import { schema } from '../../src/settings/table.ts';
import { settingProblems } from './support/settingProblems.ts';

const key = 'bm90LWEtcmVhbC1rZXk=';
const enough = {
  HUB_EVENTS_CONNECTION_STRING: `Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=${key};EntityPath=hub`,
  HUB_SERVICE_CONNECTION_STRING: `HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=${key}`,
  INFORMATION_MODEL_URL: 'https://im.example',
  TYPE_REGISTRY_URL: 'https://tr.example',
  PRINCIPAL_MANAGER_URL: 'https://pm.example/base',
  BACKENDS_TOKEN: 't0ken',
};

const names = settingDocs().map(({ env }) => env);
const directory = folderForAll('settings');
const configFile = join(directory, 'given.json');
const file = (values: unknown) => {
  writeFileSync(configFile, typeof values === 'string' ? values : JSON.stringify(values));
  return configFile;
};

const problemsOf = (env: NodeJS.ProcessEnv) => settingProblems(env, directory);

describe('settings', () => {
  it('have defaults except for the hub and the backends', () => {
    expect(problemsOf(enough)).toEqual([]);
    expect(readSettings(enough, directory)).toMatchObject({ delivery: { drainSeconds: 25 }, store: { kind: 'file' } });
  });

  it('come from the environment before the file, from the file before the defaults', () => {
    const given = { CONFIG_FILE: file({ http: { port: 1 }, delivery: { drainSeconds: 2 } }), HTTP_PORT: '3' };
    const expected = { http: { port: 3 }, delivery: { drainSeconds: 2 } };
    expect(readSettings({ ...enough, ...given }, directory)).toMatchObject(expected);
  });

  it.each(['', undefined])('are those of production when NODE_ENV is %j', (environment) => {
    const env = { ...enough, NODE_ENV: environment };
    const settings = readSettings(env, configDirectory);
    expect(settings).toEqual(readSettings({ ...enough, NODE_ENV: 'production' }, configDirectory));
    expect(settings).toMatchObject({ http: { host: '0.0.0.0' }, log: { level: 'info' } });
    const path = join(configDirectory, 'production.json');
    expect(fileEffect(env, configDirectory, settings)).toEqual({ path, changed: [] });
  });

  it('of a file are named at the start: the changed ones of the program', () => {
    const effectOf = (env: NodeJS.ProcessEnv) => fileEffect(env, configDirectory, readSettings(env, configDirectory));
    const development = { ...enough, NODE_ENV: 'development' };
    const path = join(configDirectory, 'development.json');
    expect(effectOf(development)).toEqual({ path, changed: ['HTTP_HOST', 'LOG_LEVEL'] });
    expect(effectOf({ ...development, HTTP_HOST: '::1' })?.changed).toEqual(['LOG_LEVEL']);
    const given = file({ http: { port: 8080, host: '::1' }, methods: { port: 1 } });
    expect(effectOf({ ...enough, CONFIG_FILE: given })).toEqual({ path: given, changed: ['HTTP_HOST'] });
    expect(effectOf({ ...enough, NODE_ENV: 'none' })).toBe(undefined);
  });

  it('count as not set when the variable is empty', () =>
    expect(readSettings({ ...enough, HTTP_PORT: '' }, directory).http.port).toBe(8080));
  it('that are missing are all reported at once, by their variables', () => {
    const problems = problemsOf({});
    for (const name of Object.keys(enough)) expect(problems.join('\n')).toContain(name);
  });

  it.each([
    ['HTTP_PORT', '8080x', 'HTTP_PORT: must be a port from 0 to 65535'],
    ['HTTP_PORT', '70000', 'HTTP_PORT: must be a port from 0 to 65535'],
    ['ADMIN_HOST', '0.0.0.0', 'an address that other machines can reach, which needs ADMIN_TOKEN'],
    ['ADMIN_HOST', 'localhost.example', 'an address that other machines can reach, which needs ADMIN_TOKEN'],
    ['ADMIN_TOKEN', 'x'.repeat(15), 'ADMIN_TOKEN: must be at least 16 printable ASCII characters'],
    ['ADMIN_PORT', '8080', 'ADMIN_PORT and HTTP_PORT must differ'],
    ['DELIVERY_MAX_MESSAGES', '1e3', 'DELIVERY_MAX_MESSAGES: must be a whole number from 1 to 100000'],
    ['STORE', 'directory', 'STORE: must be one of the possible values'],
    ['DATA_DIRECTORY', 'a\nb', 'DATA_DIRECTORY: must be without control characters'],
    ['BACKENDS_CLIENT_SECRET', 's3cret\n', 'BACKENDS_CLIENT_SECRET: must be without control characters'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL: must be one of the possible values'],
    ['HUB_START_POSITION', 'now', 'HUB_START_POSITION: must be one of the possible values'],
    ...['im.example', 'ftp://im.example', 'file:///im', 'https://im.example?x', 'https://im.example#x'].map((url) => [
      'INFORMATION_MODEL_URL',
      url,
      'INFORMATION_MODEL_URL: must be an http or https URL',
    ]),
    ...['user:pass', 'user', ':pass'].map((credentials) => [
      'INFORMATION_MODEL_URL',
      `https://${credentials}@im.example`,
      'INFORMATION_MODEL_URL: must be an http or https URL without credentials',
    ]),
    ['BACKENDS_TOKEN_URL', 'https://login.example/token', 'BACKENDS_TOKEN and BACKENDS_TOKEN_URL are two ways'],
    ['HUB_SERVICE_CONNECTION_STRING', `HostName=h;SharedAccessKey=${key}`, 'SharedAccessKeyName missing'],
    [
      'HUB_EVENTS_CONNECTION_STRING',
      enough.HUB_EVENTS_CONNECTION_STRING.replace('EntityPath', 'Path'),
      'EntityPath missing',
    ],
  ])('%s=%s is refused', (name, value, problem) => {
    const problems = problemsOf({ ...enough, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });

  it('allow another address for the admin port with a token', () => {
    expect(problemsOf({ ...enough, ADMIN_HOST: '0.0.0.0', ADMIN_TOKEN: 'x'.repeat(16) })).toEqual([]);
    for (const host of ['127.0.0.1', '::1', 'localhost'])
      expect(problemsOf({ ...enough, ADMIN_HOST: host })).toEqual([]);
  });

  it('need no event endpoint beside the hub’s own connection string, which names it, and one without', () => {
    const { HUB_EVENTS_CONNECTION_STRING: _, HUB_SERVICE_CONNECTION_STRING: __, ...others } = enough;
    expect(problemsOf({ ...enough, HUB_EVENTS_CONNECTION_STRING: '' })).toEqual([]);
    const keyless = { ...others, IDENTITY: 'managed', HUB_HOST_NAME: 'hub.example' };
    expect(problemsOf(keyless)).toEqual([expect.stringContaining('set HUB_EVENTS_CONNECTION_STRING, or')]);
  });

  it('require client credentials with the token endpoint', () => {
    const endpoint = { ...enough, BACKENDS_TOKEN: '', BACKENDS_TOKEN_URL: 'https://login.example/token' };
    const [id, secret] = [{ BACKENDS_CLIENT_ID: 'id' }, { BACKENDS_CLIENT_SECRET: 'secret' }];
    for (const half of [{}, id, secret]) {
      const problems = problemsOf({ ...endpoint, ...half });
      expect(problems).toEqual([expect.stringContaining('backends.tokenUrl: needs BACKENDS_CLIENT_ID')]);
    }
    expect(problemsOf({ ...endpoint, ...id, ...secret })).toEqual([]);
  });

  const quotes = (value: string) => [`"${value}"`, `'${value}'`];
  it.each(
    [
      ['HUB_EVENTS_CONNECTION_STRING', enough.HUB_EVENTS_CONNECTION_STRING],
      ['BACKENDS_TOKEN', 't0ken'],
      ['HTTP_PORT', '8080'],
      ['STORE', 'file'],
      ['NODE_ENV', 'production'],
      ['CONFIG_FILE', configFile],
    ].flatMap(([name = '', value = '']) => quotes(value).map((quoted) => [name, quoted] as const)),
  )('%s=%s is refused for its quotes alone, as `docker run --env-file` passes them', (name, value) => {
    const problem = `${name}: the quotes around its value are part of it: remove them`;
    expect(problemsOf({ ...enough, [name]: value })).toEqual([problem]);
  });

  it('may have a quote inside, or at one end', () =>
    expect(problemsOf({ ...enough, BACKENDS_TOKEN: 'a"b"' })).toEqual([]));

  it('never repeat a secret', () => {
    const hub = { HUB_EVENTS_CONNECTION_STRING: `SharedAccessKey=${key}`, HUB_SERVICE_CONNECTION_STRING: key };
    const broken = { ...hub, INFORMATION_MODEL_URL: `https://user:${key}@im.example`, HTTP_PORT: 'x' };
    expect(problemsOf(broken).join('\n')).not.toContain(key);
  });

  it.each(['s3cr3t\u0100', 's3cr3t\n', 's3cr3t t', 's3cr3t\u007f', 's3cr3t\u0000'])(
    'refuse a token that no HTTP header can carry, without a word of it: %j',
    (token) => {
      const problems = problemsOf({ ...enough, BACKENDS_TOKEN: token });
      expect(problems).toEqual([expect.stringContaining('BACKENDS_TOKEN: must be printable ASCII')]);
      expect(problems.join('\n')).not.toContain('s3cr3t');
    },
  );

  type Setting = { env: string; format: unknown; minimum?: number; maximum?: number };
  const numbers = Object.values<Record<string, Setting>>(schema)
    .flatMap((members) => Object.values(members))
    .filter(({ format }) => format === 'count')
    .map(({ env, minimum = 1, maximum = 0 }) => ({ env, minimum, maximum }));

  it.each(numbers)('have a least and a largest value: $env', ({ env, minimum, maximum }) => {
    for (const allowed of [minimum, maximum]) expect(problemsOf({ ...enough, [env]: String(allowed) })).toEqual([]);
    for (const refused of [minimum - 1, maximum + 1]) {
      const problem = `${env}: must be a whole number from ${minimum} to ${maximum}`;
      expect(problemsOf({ ...enough, [env]: String(refused) })).toEqual([expect.stringContaining(problem)]);
    }
  });

  it('have no duration that a timer would treat as 0', () => {
    const durations = numbers.filter(({ env }) => env.endsWith('_SECONDS'));
    expect(durations.length).toBeGreaterThan(2);
    expect(durations.filter(({ maximum }) => maximum * 1000 * 10 >= 2 ** 31)).toEqual([]);
  });

  it.each([
    ['unknown names', { delivry: { maxMessages: 1 } }, "'delivry.maxMessages' not declared"],
    ['no JSON', '{', 'cannot be read as JSON'],
    ['no object', '[]', 'must hold a JSON object'],
  ])('of a file with %s are refused', (_what, values, problem) =>
    expect(problemsOf({ ...enough, CONFIG_FILE: file(values) }).join('\n')).toContain(problem),
  );

  it('do not allow sending the hub’s token in clear to another machine', () => {
    const emulator = (host: string) =>
      enough.HUB_EVENTS_CONNECTION_STRING.replace('hub.example', host).concat(';UseDevelopmentEmulator=true');
    for (const host of ['localhost:5672', '127.0.0.1:5672', '[::1]:5672'])
      expect(problemsOf({ ...enough, HUB_EVENTS_CONNECTION_STRING: emulator(host) })).toEqual([]);
    const refused = [expect.stringContaining('this machine only')];
    for (const host of ['hub.example', 'localhost.example', '127.0.0.1.example', '10.0.0.1'])
      expect(problemsOf({ ...enough, HUB_EVENTS_CONNECTION_STRING: emulator(host) })).toEqual(refused);
  });

  it('do not allow heartbeats so rare that an idle instance would be restarted', () => {
    const failsAfterMs = 5 * 60_000;
    expect(3 * roundMs(timing.expirySeconds)).toBeLessThan(failsAfterMs);
  });
});

describe('times that follow from settings', () => {
  it.each([
    [1, 1_000],
    [6, 1_000],
    [30, 5_000],
    [60, 10_000],
    [3_600, 10_000],
  ])('a reply that may wait %i s is settled in %i ms, or sent again: a sixth, from 1 to 10 s', (seconds, ms) =>
    expect(settleWithinMs(seconds)).toBe(ms),
  );

  it('a process that stood still for half the expiry of an ownership looks again before the other half is over', () =>
    expect(processPauseMs(30)).toBe(15_000));
});

describe('the proxies', () => {
  const proxy = 'http://user:p%40ss@proxy:3128';
  const direct = { ...enough, NO_PROXY: '*' };

  it.each([
    ['HTTPS_PROXY', 'NO_PROXY'],
    ['https_proxy', 'NO_PROXY'],
    ['https_proxy', 'no_proxy'],
  ])('are those of the conventional variables: %s, %s', (name, except) => {
    const { network } = readSettings({ ...enough, [except]: '*', [name]: proxy }, directory);
    expect(network).toMatchObject({ httpsProxy: proxy, httpProxy: '', noProxy: '*' });
  });

  it('are read in upper case first', () => {
    const { network } = readSettings({ ...direct, https_proxy: 'http://other', HTTPS_PROXY: proxy }, directory);
    expect(network.httpsProxy).toBe(proxy);
  });

  it.each(['HTTPS_PROXY', 'HTTP_PROXY'])('in %s are addresses; the value is in no message', (name) => {
    const problems = problemsOf({ ...direct, [name]: 'user:p@ss@proxy:3128' });
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${name}: must be the http or https address`))]);
    expect(problems.join()).not.toContain('p@ss');
  });

  it.each(['ALL_PROXY', 'all_proxy'])('of %s are not used, which is said', (name) => {
    expect(strayVariables({ ...enough, [name]: proxy })).toEqual([
      { variable: name, hint: 'set HTTPS_PROXY, HTTP_PROXY, NO_PROXY' },
    ]);
    expect(strayVariables({ [name]: '' })).toEqual([]);
  });
});

describe('the transport of the hub', () => {
  const proxied = { ...enough, HTTPS_PROXY: 'http://proxy:3128' };
  const amqp = /^hub\.transport: AMQP at port 5671 passes no proxy, .* set HUB_TRANSPORT=websockets, or name the hosts/;

  it.each([
    ['a proxy', proxied],
    ['a proxy that excepts only the event endpoint', { ...proxied, NO_PROXY: 'events.example' }],
  ])('cannot be AMQP behind %s', (_, env) => {
    const events = enough.HUB_EVENTS_CONNECTION_STRING.replace('hub.example', 'events.example');
    expect(problemsOf({ ...env, HUB_EVENTS_CONNECTION_STRING: events })).toEqual([expect.stringMatching(amqp)]);
  });

  it.each([
    ['WebSockets behind it', { ...proxied, HUB_TRANSPORT: 'websockets' }],
    ['AMQP beside it', { ...proxied, NO_PROXY: '.example' }],
    ['AMQP behind a proxy for addresses without TLS', { ...enough, HTTP_PROXY: 'http://proxy:3128' }],
  ])('can be %s', (_, env) => expect(problemsOf(env)).toEqual([]));

  it('cannot be WebSockets for an emulator without TLS', () => {
    const events = `Endpoint=sb://127.0.0.1:5672;SharedAccessKeyName=n;SharedAccessKey=${key};EntityPath=hub;UseDevelopmentEmulator=true`;
    const env = { ...enough, HUB_EVENTS_CONNECTION_STRING: events };
    expect(problemsOf(env)).toEqual([]);
    expect(problemsOf({ ...env, HUB_TRANSPORT: 'websockets' })).toEqual([
      expect.stringMatching(/^hub\.transport: .*UseDevelopmentEmulator=true/),
    ]);
  });

  it.each([
    ['sb://[fd00::1]:5671/', 1],
    ['sb://[::1]:5671/', 0],
  ])('to the event endpoint at %s has %i problems without WebSockets', (endpoint, count) => {
    const events = enough.HUB_EVENTS_CONNECTION_STRING.replace('sb://hub.example/', endpoint);
    const env = { ...enough, HUB_EVENTS_CONNECTION_STRING: events };
    expect([problemsOf(env).length, problemsOf({ ...env, HUB_TRANSPORT: 'websockets' })]).toEqual([count, []]);
  });
});

describe('unknown variables that look like settings', () => {
  it('are named, with the nearest name', () =>
    expect(strayVariables({ DELIVERY_DRAIN_SECOND: '1', HUB_CONSUMERGROUP: 'g', STORE_CONNECTION: 's3cret' })).toEqual([
      { variable: 'DELIVERY_DRAIN_SECOND', hint: 'the nearest name is DELIVERY_DRAIN_SECONDS' },
      { variable: 'HUB_CONSUMERGROUP', hint: 'the nearest name is HUB_CONSUMER_GROUP' },
      { variable: 'STORE_CONNECTION', hint: 'the nearest name is STORE_CONNECTION_STRING' },
    ]));

  it('do not include empty ones, those of other programs, or those that Kubernetes sets for a service of such a name', () => {
    const others = {
      ...{ PATH: '/bin', NODE_ENV: 'production', HTTP_PROXY: 'http://proxy', HUB_UNKNOWN: '' },
      ...{ HUB_SERVICE_HOST: '10.0.0.1', HUB_SERVICE_PORT_HTTP: '80', HUB_PORT: 'tcp://10.0.0.1:80' },
      HUB_PORT_80_TCP_ADDR: '10.0.0.1',
    };
    expect(strayVariables({ ...enough, ...others })).toEqual([]);
  });

  it('are searched by the prefixes of all settings', () => {
    const others = ['IDENTITY', 'HTTPS_PROXY', 'HTTPS_PROXY_FILE', 'NO_PROXY', 'STORE'];
    expect(names.filter((name) => !prefixes.some((prefix) => name.startsWith(prefix)))).toEqual(others);
    expect(prefixes.filter((prefix) => !names.some((name) => name.startsWith(prefix)))).toEqual([]);
  });
});

const storage = `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${key};EndpointSuffix=core.windows.net`;
const emulated = (host: string) => `AccountName=a;AccountKey=${key};BlobEndpoint=http://${host}/a`;
const blob = { ...enough, STORE: 'blob', STORE_CONNECTION_STRING: storage };
const own = { CHECKPOINTS_CONNECTION_STRING: storage, DEAD_LETTERS_CONNECTION_STRING: storage };
const nowhere = { STORE_CONNECTION_STRING: '' };

describe('the settings of the store', () => {
  it.each([
    ['the account’s key', storage],
    ['a shared access signature', 'BlobEndpoint=https://a.blob.core.windows.net/;SharedAccessSignature=sv=1&sig=x%3D'],
    ['an emulator on this machine', emulated('127.0.0.1:10000')],
    ['the emulator’s short form', 'UseDevelopmentStorage=true'],
  ])('are complete with %s, in production too', (_what, connectionString) => {
    const env = { ...blob, STORE_CONNECTION_STRING: connectionString, NODE_ENV: 'production' };
    expect(problemsOf(env)).toEqual([]);
    expect(readSettings(env, directory)).toMatchObject({
      store: { kind: 'blob' },
      checkpoints: { container: 'checkpoints' },
      deadLetters: { container: 'dead-letters' },
    });
  });

  it.each([
    ['one for each', { ...own, ...nowhere }],
    ['one for checkpoints', { CHECKPOINTS_CONNECTION_STRING: storage }],
    ['one for dead letters', { DEAD_LETTERS_CONNECTION_STRING: storage }],
  ])('allow accounts of their own: %s', (_what, given) => expect(problemsOf({ ...blob, ...given })).toEqual([]));

  it.each<[string, Record<string, string>, string]>([
    ['no connection string', nowhere, 'STORE=blob needs STORE_CONNECTION_STRING'],
    ...Object.entries(own).map(([name, value]): [string, Record<string, string>, string] => {
      return [`none but ${name}`, { ...nowhere, [name]: value }, 'STORE=blob needs STORE_CONNECTION_STRING'];
    }),
    ['files instead', { STORE: 'file' }, 'STORE_CONNECTION_STRING is not used with STORE=file'],
    ['half an account', { STORE_CONNECTION_STRING: 'AccountName=a' }, 'AccountKey'],
    ['half an account of the checkpoints', { CHECKPOINTS_CONNECTION_STRING: 'AccountName=a' }, 'AccountKey'],
    ['half an account of the dead letters', { DEAD_LETTERS_CONNECTION_STRING: 'AccountName=a' }, 'AccountKey'],
    ['a signature for nowhere', { STORE_CONNECTION_STRING: 'SharedAccessSignature=sv=1' }, 'BlobEndpoint'],
    ['http', { STORE_CONNECTION_STRING: storage.replace('https', 'http') }, 'on this machine only'],
    ['http elsewhere', { STORE_CONNECTION_STRING: emulated('10.0.0.1') }, 'on this machine only'],
    ['a name that is none', { CHECKPOINTS_CONTAINER: 'Check_Points' }, 'CHECKPOINTS_CONTAINER: must be 3 to 63'],
    ['a short name', { CHECKPOINTS_CONTAINER: 'cp' }, 'CHECKPOINTS_CONTAINER: must be 3 to 63'],
    ['another that is none', { DEAD_LETTERS_CONTAINER: 'Dead_Letters' }, 'DEAD_LETTERS_CONTAINER: must be 3 to 63'],
  ])('are refused with %s', (_what, given, problem) => {
    const problems = problemsOf({ ...blob, ...given });
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems.join('\n')).not.toContain(key);
  });

  const none = { connectionString: '', accountUrl: '' };
  const [a, b] = [{ ...none, connectionString: 'a' } as const, { ...none, accountUrl: 'https://b.example' } as const];

  it.each([
    ['the store’s without one of their own', none, a, a, 'STORE_CONNECTION_STRING'],
    ['the store’s without one of their own, by a URL', none, b, b, 'STORE_ACCOUNT_URL'],
    ['their own', a, none, a, 'CHECKPOINTS_CONNECTION_STRING'],
    ['their own before the store’s', a, b, a, 'CHECKPOINTS_CONNECTION_STRING'],
    ['their own by a URL before the store’s', b, a, b, 'CHECKPOINTS_ACCOUNT_URL'],
  ])('give checkpoints an account: %s', (_what, own, store, account, setting) => {
    expect(accountOf(own, store)).toEqual(account);
    const place = placeOf(own, { kind: 'blob', ...store }, 'CHECKPOINTS');
    expect(place).toEqual({ setting, containerSetting: 'CHECKPOINTS_CONTAINER' });
    expect(placeOf(own, { kind: 'file', ...store }, 'CHECKPOINTS')).toEqual({ setting: 'DATA_DIRECTORY' });
  });

  it('are refused with an account that files do not need, by the variable', () =>
    expect(problemsOf({ ...enough, ...own })).toEqual([
      expect.stringContaining('CHECKPOINTS_CONNECTION_STRING is not used with STORE=file'),
      expect.stringContaining('DEAD_LETTERS_CONNECTION_STRING is not used with STORE=file'),
    ]));

  it.each(['store', 'checkpoints', 'deadLetters'])('have a secret that no file may have: that of %s', (group) => {
    const problems = problemsOf({ ...enough, CONFIG_FILE: file({ [group]: { connectionString: storage } }) });
    expect(problems).toEqual([expect.stringContaining(`${group}.connectionString is a secret`)]);
  });
});

describe('the pages that list the settings', () => {
  it('include README.md with the required ones, up to date: run `npm run docs`', () => {
    const readme = readFileSync('README.md', 'utf8');
    expect(withRequiredSettings(readme)).toBe(readme);
    const needed = Object.keys(enough).filter((name) => name !== 'HUB_EVENTS_CONNECTION_STRING');
    expect(required).toEqual(expect.arrayContaining(needed));
    for (const name of needed) expect(problemsOf({ ...enough, [name]: '' })).not.toEqual([]);
  });

  it('include docs/settings.md with each setting once, up to date: run `npm run docs`', () => {
    const page = readFileSync('docs/settings.md', 'utf8');
    expect(settingsPage()).toBe(page);
    const listed = [...page.matchAll(/^\| `(\w+)` \|.*?(\| secret \|.*)?$/gm)].flatMap(([, name, secret]) =>
      secret ? [name, `${name}_FILE`] : [name],
    );
    expect(listed.toSorted()).toEqual(names.toSorted());
  });

  it('include .env.example, up to date: run `npm run docs`', () =>
    expect(readFileSync('.env.example', 'utf8')).toBe(envExample()));

  it('give every setting a sentence and a variable of its own', () => {
    const docs = settingDocs();
    expect(new Set(docs.map(({ env }) => env)).size).toBe(docs.length);
    for (const { doc } of docs) expect(doc).toMatch(/\w.*[.…]$/);
  });
});

describe('an identity', () => {
  const {
    HUB_EVENTS_CONNECTION_STRING: events,
    HUB_SERVICE_CONNECTION_STRING: service,
    BACKENDS_TOKEN: token,
    ...urls
  } = enough;
  const routed = { HUB_EVENTS_NAMESPACE: 'events.example', HUB_EVENTS_NAME: 'routed', HUB_EVENTS_SENDERS: 'hub-only' };
  const scope = 'api://backends/.default';
  const scopes = { INFORMATION_MODEL_SCOPE: scope, TYPE_REGISTRY_SCOPE: scope, PRINCIPAL_MANAGER_SCOPE: scope };
  const keyless = {
    ...{ ...urls, ...routed, ...scopes, IDENTITY: 'managed', HUB_HOST_NAME: 'hub.example' },
    ...{ STORE: 'blob', STORE_ACCOUNT_URL: 'https://a.blob.core.windows.net/' },
  };

  it('does without any key, and beside some', () => {
    expect(problemsOf(keyless)).toEqual([]);
    expect(
      problemsOf({ ...enough, IDENTITY: 'workload', STORE: 'blob', STORE_ACCOUNT_URL: 'https://a.example' }),
    ).toEqual([]);
    const { PRINCIPAL_MANAGER_SCOPE: _, ...some } = keyless;
    expect(problemsOf({ ...some, BACKENDS_TOKEN: token })).toEqual([]);
  });

  const developer = { IDENTITY: 'developer' };
  const both = (
    what: string,
    given: Record<string, string>,
    other: string,
  ): [string, Record<string, string>, string] => [
    `${what} by both`,
    given,
    `${Object.keys(given)[0]} and ${other} are two ways`,
  ];

  it.each<[string, Record<string, string>, string]>([
    both('events', { HUB_EVENTS_CONNECTION_STRING: events }, 'HUB_EVENTS_NAMESPACE'),
    both('replies', { HUB_SERVICE_CONNECTION_STRING: service }, 'HUB_HOST_NAME'),
    both('a store', { STORE_CONNECTION_STRING: storage }, 'STORE_ACCOUNT_URL'),
    both('events with no name', { HUB_EVENTS_CONNECTION_STRING: events, HUB_EVENTS_NAME: '' }, 'HUB_EVENTS_NAMESPACE'),
    ...['CHECKPOINTS', 'DEAD_LETTERS'].map((name) => {
      const given = { [`${name}_CONNECTION_STRING`]: storage, [`${name}_ACCOUNT_URL`]: 'https://a.example' };
      return both(`the account of ${name}`, given, `${name}_ACCOUNT_URL`);
    }),
    ['a token no backend takes', { BACKENDS_TOKEN: token }, 'BACKENDS_TOKEN is not used: every backend has a scope'],
    ['no word on who may send', { HUB_EVENTS_SENDERS: '' }, 'HUB_EVENTS_SENDERS=hub-only, which says that nobody but'],
    ['an event hub with another word', { HUB_EVENTS_SENDERS: 'anybody' }, 'HUB_EVENTS_SENDERS'],
    ['an event hub without a name', { HUB_EVENTS_NAME: '' }, 'HUB_EVENTS_NAMESPACE needs HUB_EVENTS_NAME'],
    ['a namespace with a scheme', { HUB_EVENTS_NAMESPACE: 'sb://events.example' }, 'must be a host name'],
    ['an account without TLS', { STORE_ACCOUNT_URL: 'http://127.0.0.1:1/a' }, 'must be an https URL'],
    ['an authority without TLS', { IDENTITY_AUTHORITY_HOST: 'http://login.example' }, 'must be an https URL'],
    ['a scope that is none', { IDENTITY_HUB_SCOPE: 'https://iothubs.azure.net' }, 'must end with /.default'],
    ['none', { IDENTITY: '' }, 'HUB_HOST_NAME needs IDENTITY beside it'],
    ['one of another kind', { IDENTITY: 'anything' }, 'IDENTITY: must be one of'],
    [
      'a developer’s client id',
      { ...developer, IDENTITY_CLIENT_ID: 'c' },
      'IDENTITY=developer has no IDENTITY_CLIENT_ID',
    ],
    ['a backend without a scope and a token', { TYPE_REGISTRY_SCOPE: '' }, 'set BACKENDS_TOKEN'],
  ])('%s is refused', (_, wrong, problem) =>
    expect(problemsOf({ ...keyless, ...wrong }).join('\n')).toContain(problem),
  );

  it.each<[string, Record<string, string>, string]>([
    ['nothing to use it', { IDENTITY: 'managed' }, 'IDENTITY is not used'],
    ['senders of no event hub', { HUB_EVENTS_SENDERS: 'hub-only' }, 'HUB_EVENTS_SENDERS is not used without'],
    [
      'an account of stores in files',
      { IDENTITY: 'managed', STORE_ACCOUNT_URL: 'https://a.example' },
      'is not used with STORE=file',
    ],
  ])('%s is refused', (_, wrong, problem) => expect(problemsOf({ ...enough, ...wrong }).join('\n')).toContain(problem));

  it('of an app service has variables that are no misspelt settings', () => {
    const platform = { IDENTITY_ENDPOINT: 'http://127.0.0.1/msi', IDENTITY_HEADER: 'secret' };
    expect(strayVariables(platform)).toEqual([]);
    expect(strayVariables({ IDENTITY_CLIENT: 'c' })).toMatchObject([
      { hint: expect.stringMatching(/IDENTITY_CLIENT_ID/) },
    ]);
  });
});
