import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { envExample, withSettingsTable } from '../scripts/settingsPages.ts';
import { ConfigurationError, readSettings, settingDocs } from '../src/config.ts';

const key = 'bm90LWEtcmVhbC1rZXk=';
const enough = {
  HUB_EVENTS_CONNECTION_STRING: `Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=${key};EntityPath=hub`,
  HUB_SERVICE_CONNECTION_STRING: `HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=${key}`,
  INFORMATION_MODEL_URL: 'https://im.example',
  TYPE_REGISTRY_URL: 'https://tr.example',
  PRINCIPAL_MANAGER_URL: 'https://pm.example/base',
  BACKENDS_TOKEN: 't0ken',
};

const directory = mkdtempSync(join(tmpdir(), 'settings-'));
afterAll(() => rmSync(directory, { recursive: true }));
const file = (values: unknown) => {
  const path = join(directory, 'given.json');
  writeFileSync(path, typeof values === 'string' ? values : JSON.stringify(values));
  return path;
};

function problemsOf(env: NodeJS.ProcessEnv): readonly string[] {
  try {
    readSettings(env, directory);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('settings', () => {
  it('have defaults for everything but the hub and the backends', () => {
    expect(problemsOf(enough)).toEqual([]);
    expect(readSettings(enough, directory)).toMatchObject({
      messages: { defaultTimeoutSeconds: 300 },
      checkpoints: { store: 'file' },
    });
  });

  it('come from the environment before the file, from the file before the defaults', () => {
    const given = {
      ...enough,
      CONFIG_FILE: file({ http: { port: 1 }, delivery: { drainSeconds: 2 } }),
      HTTP_PORT: '3',
    };
    expect(readSettings(given, directory)).toMatchObject({ http: { port: 3 }, delivery: { drainSeconds: 2 } });
  });

  it('count as not set when the variable is empty', () => {
    expect(readSettings({ ...enough, HTTP_PORT: '' }, directory).http.port).toBe(8080);
  });

  it('that are missing are all named at once, by their variables', () => {
    const problems = problemsOf({});
    for (const name of Object.keys(enough)) expect(problems.join('\n')).toContain(name);
  });

  it.each([
    ['HTTP_PORT', '8080x', 'HTTP_PORT: must be a port from 0 to 65535'],
    ['HTTP_PORT', '70000', 'HTTP_PORT: must be a port from 0 to 65535'],
    ['DELIVERY_MAX_MESSAGES', '0', 'DELIVERY_MAX_MESSAGES: must be a whole number above 0'],
    ['DELIVERY_MAX_MESSAGES', '1e3', 'DELIVERY_MAX_MESSAGES: must be a whole number above 0'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL: must be one of the possible values'],
    ['HUB_START_POSITION', 'now', 'HUB_START_POSITION: must be one of the possible values'],
    ['INFORMATION_MODEL_URL', 'im.example', 'INFORMATION_MODEL_URL: must be an http or https URL'],
    ['INFORMATION_MODEL_URL', 'https://user:pass@im.example', 'INFORMATION_MODEL_URL: must be an http or https URL'],
    ['BACKENDS_TOKEN_URL', 'https://login.example/token', 'backends.tokenUrl: needs BACKENDS_CLIENT_ID'],
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

  it('never repeat a secret', () => {
    const broken = {
      HUB_EVENTS_CONNECTION_STRING: `SharedAccessKey=${key}`,
      HUB_SERVICE_CONNECTION_STRING: key,
      INFORMATION_MODEL_URL: `https://user:${key}@im.example`,
      HTTP_PORT: 'x',
    };
    expect(problemsOf(broken).join('\n')).not.toContain(key);
  });

  it('that are secrets are refused in a file', () => {
    const problems = problemsOf({ ...enough, CONFIG_FILE: file({ backends: { token: key } }) });
    expect(problems).toEqual([
      expect.stringMatching(/^backends\.token is a secret: set BACKENDS_TOKEN and remove it from /),
    ]);
  });

  it.each([
    ['unknown names', { delivry: { maxMessages: 1 } }, "'delivry.maxMessages' not declared"],
    ['no JSON', '{', 'cannot be read as JSON'],
    ['no object', '[]', 'must hold a JSON object'],
  ])('of a file with %s are refused', (_what, values, problem) => {
    expect(problemsOf({ ...enough, CONFIG_FILE: file(values) }).join('\n')).toContain(problem);
  });

  it('do not let the hub’s token travel in clear to another machine', () => {
    const emulator = (host: string) =>
      enough.HUB_EVENTS_CONNECTION_STRING.replace('hub.example', host).concat(';UseDevelopmentEmulator=true');
    for (const host of ['localhost:5672', '127.0.0.1:5672', '[::1]:5672']) {
      expect(problemsOf({ ...enough, HUB_EVENTS_CONNECTION_STRING: emulator(host) })).toEqual([]);
    }
    for (const host of ['hub.example', 'localhost.example', '127.0.0.1.example', '10.0.0.1']) {
      expect(problemsOf({ ...enough, HUB_EVENTS_CONNECTION_STRING: emulator(host) })).toEqual([
        expect.stringContaining('this machine only'),
      ]);
    }
  });

  it('refuse an expiry that a single missed renewal would bring about', () => {
    const env = { ...enough, SCALING_ROUND_SECONDS: '10', SCALING_EXPIRY_SECONDS: '29' };
    expect(problemsOf(env)).toEqual([expect.stringContaining('at least three times SCALING_ROUND_SECONDS, 30')]);
    expect(problemsOf({ ...env, SCALING_EXPIRY_SECONDS: '30' })).toEqual([]);
  });

  it.each([{ HUB_MAX_WAIT_SECONDS: '101' }, { SCALING_ROUND_SECONDS: '101', SCALING_EXPIRY_SECONDS: '303' }])(
    'refuse signs of life so rare that an idle instance would be restarted for want of them: %o',
    (rare) => {
      expect(problemsOf({ ...enough, ...rare })).toEqual([expect.stringContaining('at most 100')]);
    },
  );

  it('refuse a memory of progress that a restart would lose, in production', () => {
    const env = { ...enough, CHECKPOINTS_STORE: 'memory' };
    expect(problemsOf(env)).toEqual([]);
    expect(problemsOf({ ...env, NODE_ENV: 'production' })).toEqual([expect.stringContaining('checkpoints.store')]);
  });
});

const storage = `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${key};EndpointSuffix=core.windows.net`;
const blob = { ...enough, CHECKPOINTS_STORE: 'blob', CHECKPOINTS_CONNECTION_STRING: storage };

describe('the settings of the blob store', () => {
  it.each([
    ['the account’s key', storage],
    ['a shared access signature', 'BlobEndpoint=https://a.blob.core.windows.net/;SharedAccessSignature=sv=1&sig=x%3D'],
    ['an emulator on this machine', `AccountName=a;AccountKey=${key};BlobEndpoint=http://127.0.0.1:10000/a`],
    ['the emulator’s short form', 'UseDevelopmentStorage=true'],
  ])('are complete with %s, in production too', (_what, connectionString) => {
    const env = { ...blob, CHECKPOINTS_CONNECTION_STRING: connectionString, NODE_ENV: 'production' };
    expect(problemsOf(env)).toEqual([]);
    expect(readSettings(env, directory).checkpoints).toMatchObject({ store: 'blob', container: 'checkpoints' });
  });

  it.each([
    ['no connection string', { CHECKPOINTS_CONNECTION_STRING: '' }, 'blob needs CHECKPOINTS_CONNECTION_STRING'],
    ['another store beside it', { CHECKPOINTS_STORE: 'file' }, 'of no use to CHECKPOINTS_STORE=file'],
    ['half an account', { CHECKPOINTS_CONNECTION_STRING: 'AccountName=a' }, 'AccountKey'],
    ['a signature for nowhere', { CHECKPOINTS_CONNECTION_STRING: 'SharedAccessSignature=sv=1' }, 'BlobEndpoint'],
    ['http', { CHECKPOINTS_CONNECTION_STRING: storage.replace('https', 'http') }, 'on this machine only'],
    [
      'an http endpoint elsewhere',
      { CHECKPOINTS_CONNECTION_STRING: `AccountName=a;AccountKey=${key};BlobEndpoint=http://10.0.0.1/a` },
      'on this machine only',
    ],
    ['a name that is none', { CHECKPOINTS_CONTAINER: 'Check_Points' }, 'CHECKPOINTS_CONTAINER: must be 3 to 63'],
    ['a short name', { CHECKPOINTS_CONTAINER: 'cp' }, 'CHECKPOINTS_CONTAINER: must be 3 to 63'],
  ])('are refused with %s', (_what, given, problem) => {
    const problems = problemsOf({ ...blob, ...given });
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems.join('\n')).not.toContain(key);
  });

  it('are a secret that no file may hold', () => {
    const problems = problemsOf({ ...enough, CONFIG_FILE: file({ checkpoints: { connectionString: storage } }) });
    expect(problems).toEqual([expect.stringContaining('checkpoints.connectionString is a secret')]);
  });
});

describe('the settings of the dead letters in blobs', () => {
  const inBlobs = { ...enough, DEAD_LETTERS_STORE: 'blob' };
  const own = { DEAD_LETTERS_CONNECTION_STRING: storage };
  const lent = { CHECKPOINTS_CONNECTION_STRING: storage };

  it.each([
    ['a connection string of their own', own],
    ['that of the checkpoints, which may be in blobs or not', lent],
    ['both', { ...own, ...lent, CHECKPOINTS_STORE: 'blob' }],
  ])('are complete with %s', (_what, given) => {
    expect(problemsOf({ ...inBlobs, ...given })).toEqual([]);
    expect(readSettings({ ...inBlobs, ...given }, directory).deadLetters.container).toBe('dead-letters');
  });

  it.each([
    ['no connection string', inBlobs, 'blob needs DEAD_LETTERS_CONNECTION_STRING, or CHECKPOINTS_CONNECTION_STRING'],
    ['a directory beside it', { ...enough, ...own }, 'of no use to DEAD_LETTERS_STORE=directory'],
    ['one of the checkpoints for nobody', { ...inBlobs, ...own, ...lent }, 'of no use to CHECKPOINTS_STORE=file'],
    ['half an account', { ...inBlobs, DEAD_LETTERS_CONNECTION_STRING: 'AccountName=a' }, 'AccountKey'],
    ['a name that is none', { ...inBlobs, ...own, DEAD_LETTERS_CONTAINER: 'Dead_Letters' }, 'DEAD_LETTERS_CONTAINER'],
  ])('are refused with %s', (_what, given, problem) => {
    const problems = problemsOf(given);
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems.join('\n')).not.toContain(key);
  });

  it('are a secret that no file may hold', () => {
    const problems = problemsOf({ ...enough, CONFIG_FILE: file({ deadLetters: { connectionString: storage } }) });
    expect(problems).toEqual([expect.stringContaining('deadLetters.connectionString is a secret')]);
  });
});

describe('the pages that list the settings', () => {
  it('README.md is up to date: run `npm run docs`', () => {
    const readme = readFileSync('README.md', 'utf8');
    expect(withSettingsTable(readme)).toBe(readme);
  });

  it('.env.example is up to date: run `npm run docs`', () => {
    expect(readFileSync('.env.example', 'utf8')).toBe(envExample());
  });

  it('every setting has a sentence and a variable of its own', () => {
    const docs = settingDocs();
    expect(new Set(docs.map(({ env }) => env)).size).toBe(docs.length);
    for (const { doc } of docs) expect(doc).toMatch(/\w.*[.…]$/);
  });
});
