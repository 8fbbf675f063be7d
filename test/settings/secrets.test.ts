import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readAdminSettings, readMethodsSettings, readSettings, settingDocs } from '../../src/settings/config.ts';
import { readSecretFile, redactedSettings, refuseUnfit } from '../../src/settings/secrets.ts';
import { methodsSchema, schema } from '../../src/settings/table.ts';
import { settingProblems } from './support/settingProblems.ts';

// Each secret can be in a file instead of its variable (D396).

const key = 'bm90LWEtcmVhbC1rZXk=';
const events = `Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=${key};EntityPath=hub`;
const service = `HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=${key}`;
const account = (name: string) => `AccountName=${name};AccountKey=${key};DefaultEndpointsProtocol=https`;
const values: Readonly<Record<string, string>> = {
  ...{ HUB_EVENTS_CONNECTION_STRING: events, HUB_SERVICE_CONNECTION_STRING: service, BACKENDS_TOKEN: 't0ken' },
  ...{ BACKENDS_CLIENT_SECRET: 's3cret', STORE_CONNECTION_STRING: account('one') },
  ...{ CHECKPOINTS_CONNECTION_STRING: account('two'), DEAD_LETTERS_CONNECTION_STRING: account('three') },
  ...{ METHODS_FILES_CONNECTION_STRING: account('four'), ADMIN_TOKEN: 'the-token-of-operators' },
  HTTPS_PROXY: 'http://user:pa55word@proxy.example:3128',
  HTTP_PROXY: 'http://user:pa55word@proxy.example:3129',
};
const urls = {
  INFORMATION_MODEL_URL: 'https://im.example',
  TYPE_REGISTRY_URL: 'https://tr.example',
  PRINCIPAL_MANAGER_URL: 'https://pm.example',
  HUB_TRANSPORT: 'websockets',
};

const directory = mkdtempSync(join(tmpdir(), 'secret-files-'));
afterAll(() => rmSync(directory, { recursive: true }));
let files = 0;
function file(content: string): string {
  files += 1;
  const path = join(directory, `secret-${files}`);
  writeFileSync(path, content);
  return path;
}

/** The same environment with each of these secrets in a file. */
const inFiles = (env: Readonly<Record<string, string>>, end = '\n') =>
  Object.fromEntries(
    Object.entries(env).map(([name, value]) =>
      values[name] === undefined ? [name, value] : [`${name}_FILE`, file(value + end)],
    ),
  );

const problemsOf = (env: NodeJS.ProcessEnv) => settingProblems(env, directory);
const without = (env: Readonly<Record<string, string>>, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
const enough = {
  ...urls,
  ...without(values, 'BACKENDS_CLIENT_SECRET', 'METHODS_FILES_CONNECTION_STRING'),
  STORE: 'blob',
};
/** With their files, which all differ. */
const withoutFiles = (settings: object) =>
  JSON.parse(JSON.stringify(settings, (name, value) => (/(Secret|String|token|Proxy)File$/.test(name) ? '' : value)));

describe('every secret', () => {
  it('has a setting for its file, whose name ends with _FILE', () => {
    for (const own of [schema, methodsSchema]) {
      const docs = settingDocs(own);
      const secrets = docs.filter(({ secret }) => secret).map(({ env }) => env);
      const held = docs.flatMap(({ env, holds }) => (holds === undefined ? [] : [[env, holds]]));
      expect(held).toEqual(secrets.map((env) => [`${env}_FILE`, env]));
    }
    expect(
      settingDocs()
        .filter(({ secret }) => secret)
        .map(({ env }) => env)
        .sort(),
    ).toEqual(Object.keys(values).sort());
  });

  it.each(['', '\n', '\r\n'])('of a file that ends with %j is the same as that of the variable', (end) => {
    expect(withoutFiles(readSettings(inFiles(enough, end), directory))).toEqual(
      withoutFiles(readSettings(enough, directory)),
    );
    const door = {
      ...without(values, 'BACKENDS_TOKEN', 'CHECKPOINTS_CONNECTION_STRING'),
      ...urls,
      BACKENDS_TOKEN_URL: 'https://login.example',
      BACKENDS_CLIENT_ID: 'me',
      METHODS_FILES_CONTAINER: 'files',
    };
    expect(withoutFiles(readMethodsSettings(inFiles(door, end), directory))).toEqual(
      withoutFiles(readMethodsSettings(door, directory)),
    );
    const { ADMIN_TOKEN = '' } = values;
    expect(readAdminSettings({ ADMIN_TOKEN_FILE: file(ADMIN_TOKEN + end) }, directory).token).toBe(ADMIN_TOKEN);
  });

  it('may begin and end with spaces: only the end of the line is none of it', () => {
    const one = {
      path: 'backends.clientSecret',
      variable: 'BACKENDS_CLIENT_SECRET_FILE',
      holds: 'BACKENDS_CLIENT_SECRET',
    };
    expect(readSecretFile({ ...one, file: file(' two words \n') })).toBe(' two words ');
  });

  it('may be in a file that the file of settings names, and not in that file itself', () => {
    const CONFIG_FILE = file(JSON.stringify({ hub: { eventsConnectionStringFile: file(events) } }));
    const others = without(enough, 'HUB_EVENTS_CONNECTION_STRING');
    expect(readSettings({ ...others, CONFIG_FILE }, directory).hub.eventsConnectionString).toBe(events);
    const wrong = file(JSON.stringify({ backends: { token: 't' } }));
    expect(problemsOf({ ...enough, CONFIG_FILE: wrong })[0]).toContain(
      'backends.token is a secret: set BACKENDS_TOKEN or BACKENDS_TOKEN_FILE',
    );
  });

  it('is not in the settings of the log, but its file is', () => {
    const env = inFiles(enough);
    const shown = JSON.stringify(redactedSettings(readSettings(env, directory)));
    for (const secret of [key, 't0ken', 'the-token-of-operators']) expect(shown).not.toContain(secret);
    expect(shown).toContain(JSON.stringify(env['BACKENDS_TOKEN_FILE']));
  });
});

describe('a file of a secret refuses the start', () => {
  const env = inFiles(enough);
  const BACKENDS_TOKEN_FILE = env['BACKENDS_TOKEN_FILE'] ?? '';
  const folder = join(directory, 'folder');
  mkdirSync(folder);
  symlinkSync(join(directory, 'nowhere'), join(directory, 'link'));

  it.each([
    ['is not there', join(directory, 'none'), /cannot be read \(ENOENT\): it must be a file with the secret/],
    ['is a link to nothing', join(directory, 'link'), /cannot be read \(ENOENT\)/],
    ['is a folder', folder, /is no file: name one that has the secret and nothing else/],
    ['is empty', file(''), /is empty: write the secret into it/],
    ['has only the end of a line', file('\n'), /is empty/],
    ['is large', file('x'.repeat(70_000)), /has more than 65536 bytes: it holds no secret/],
    ['has two lines', file('a\nb\n'), /BACKENDS_TOKEN_FILE: must be printable ASCII/],
  ])('that %s', (_, path, why) => {
    const problems = problemsOf({ ...env, BACKENDS_TOKEN_FILE: path });
    expect(problems).toEqual([expect.stringMatching(why)]);
    expect(problems[0]).toMatch(/^BACKENDS_TOKEN_FILE: .*\(backends\.token\)$/);
    if (!/must be/.test(problems[0] ?? '')) expect(problems[0]).toContain(path);
  });

  it('beside its variable', () =>
    expect(problemsOf({ ...env, BACKENDS_TOKEN_FILE, BACKENDS_TOKEN: 't0ken' })).toEqual([
      'backends.token: BACKENDS_TOKEN and BACKENDS_TOKEN_FILE are two ways to give the same secret; remove one of them',
    ]));
});

describe('another secret', () => {
  const refusal = (path: string, value: string, first: string) => {
    try {
      refuseUnfit({ path }, value, first);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each([
    ['hub.eventsConnectionString', events, events.replace(key, 'bmV4dA==').replace('KeyName=n', 'KeyName=other')],
    ['hub.serviceConnectionString', service, `SharedAccessKey=bmV4dA==;${service.replace(/;SharedAccessKey=.*/, ';')}`],
    ['store.connectionString', account('one'), account('one').replace(key, 'bmV4dA==')],
    ['backends.token', 't0ken', 'next'],
    ['admin.token', 'the-token-of-operators', 'another-token-of-operators'],
  ])('of %s takes the place of the first when it has other keys', (path, first, next) =>
    expect(refusal(path, next, first)).toBe(undefined),
  );

  it.each([
    ['hub.eventsConnectionString', events, events.replace('hub.example', 'other.example'), /another place/],
    ['hub.eventsConnectionString', events, events.replace('EntityPath=hub', 'EntityPath=other'), /another place/],
    ['hub.serviceConnectionString', service, service.replace('hub.example', 'other.example'), /another place/],
    ['store.connectionString', account('one'), account('two'), /another place/],
    ['hub.serviceConnectionString', service, 'HostName=hub.example', /SharedAccessKey missing/],
    ['backends.token', 't0ken', 'a b', /printable ASCII/],
    ['admin.token', 'the-token-of-operators', 'short', /at least 16/],
  ])('of %s is refused when it is for something else, or malformed', (path, first, next, why) => {
    expect(refusal(path, next, first)).toMatch(why);
    expect(refusal(path, next, first)).not.toContain(key);
  });
});

const canary = 'Y2FuYXJ5cyBzaW5n';

const common = {
  HUB_SERVICE_CONNECTION_STRING: `HostName=hub.example;SharedAccessKeyName=service;SharedAccessKey=${canary}=`,
  ...{ INFORMATION_MODEL_URL: 'https://im.example/base', TYPE_REGISTRY_URL: 'https://tr.example' },
  ...{ BACKENDS_TOKEN_URL: 'https://login.example/token', BACKENDS_CLIENT_ID: 'id' },
  ...{ BACKENDS_CLIENT_SECRET: `${canary};x=1`, HTTPS_PROXY: `http://user:${canary}@proxy.example:3128` },
  NO_PROXY: '*',
};

const environment = {
  ...common,
  HUB_EVENTS_CONNECTION_STRING: `Endpoint=sb://hub.example/;SharedAccessKeyName=service;SharedAccessKey=${canary}=;EntityPath=e`,
  PRINCIPAL_MANAGER_URL: 'https://pm.example',
  STORE: 'blob',
  STORE_CONNECTION_STRING: `DefaultEndpointsProtocol=https;AccountName=s;AccountKey=${canary}==`,
  CHECKPOINTS_CONTAINER: 'checkpoints',
  CHECKPOINTS_CONNECTION_STRING: `BlobEndpoint=https://b.example/;SharedAccessSignature=sv=1&sig=${canary}%3D`,
  DEAD_LETTERS_CONNECTION_STRING: `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${canary}==;Odd=${canary}`,
};

it('redacted settings show the addresses and users of connections and all other settings, but no secret', () => {
  const shown = redactedSettings(readSettings(environment, 'no-such-directory'));
  expect(JSON.stringify(shown)).not.toContain(canary);
  expect(shown).toMatchObject({
    hub: {
      eventsConnectionString:
        'Endpoint=sb://hub.example/;SharedAccessKeyName=service;SharedAccessKey=[set];EntityPath=e',
      serviceConnectionString: 'HostName=hub.example;SharedAccessKeyName=service;SharedAccessKey=[set]',
      consumerGroup: '$Default',
    },
    backends: { informationModelUrl: 'https://im.example/base', token: '', clientId: 'id', clientSecret: '[set]' },
    store: { kind: 'blob', connectionString: 'DefaultEndpointsProtocol=https;AccountName=s;AccountKey=[set]' },
    checkpoints: { connectionString: 'BlobEndpoint=https://b.example/;SharedAccessSignature=[set]' },
    deadLetters: { connectionString: 'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=[set];Odd=[set]' },
    network: { httpsProxy: 'http://proxy.example:3128/', httpProxy: '', noProxy: '*' },
    log: { level: 'info', pretty: false },
  });
});

it('redacted settings hide each secret setting, and the secret parts of a URL in any form, for both programs', () => {
  const methods = {
    ...common,
    METHODS_FILES_CONNECTION_STRING: `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${canary}==`,
    METHODS_FILES_CONTAINER: 'files',
    METHODS_FILES_TENANT_CLAIM: 'tenant',
  };
  const both = [readSettings(environment, 'no-such-directory'), readMethodsSettings(methods, 'no-such-directory')];
  const secret = settingDocs().filter((setting) => setting.secret || /url$/i.test(setting.path));
  expect(secret.length).toBeGreaterThan(5);
  for (const settings of both) {
    for (const { path } of secret) {
      const [group = '', name = ''] = path.split('.');
      if (!(group in settings)) continue;
      for (const form of [
        ...[canary, `${canary} `, `x:${canary}`, `https://u:${canary}@h/?${canary}#${canary}`],
        ...[`https://:${canary}@h/`, `a=${canary};b`],
      ]) {
        const changed = { ...settings, [group]: { ...settings[group as keyof typeof settings], [name]: form } };
        expect(JSON.stringify(redactedSettings(changed))).not.toContain(canary);
      }
    }
  }
});
