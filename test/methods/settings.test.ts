import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { readMethodsSettings, readSettings, settingDocs } from '../../src/settings/config.ts';
import { methodsSchema } from '../../src/settings/table.ts';
import { settingProblems } from '../settings/support/settingProblems.ts';

const key = 'bm90LWEtcmVhbC1rZXk=';
const enough = {
  HUB_SERVICE_CONNECTION_STRING: `HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=${key}`,
  INFORMATION_MODEL_URL: 'https://im.example',
  TYPE_REGISTRY_URL: 'https://tr.example',
  BACKENDS_TOKEN: 't0ken',
};
const storage = `DefaultEndpointsProtocol=https;AccountName=a;AccountKey=${key};EndpointSuffix=core.windows.net`;
const signature = 'BlobEndpoint=https://a.example/;SharedAccessSignature=sv=1&sig=x';
const filesAt = (account: string) => ({
  ...{ ...enough, METHODS_FILES_CONNECTION_STRING: account, METHODS_FILES_CONTAINER: 'files' },
});
const withFiles = filesAt(storage);

const directory = folderForAll('settings');
const problemsOf = (env: NodeJS.ProcessEnv) => settingProblems(env, directory, readMethodsSettings);

describe('the settings of the front door', () => {
  it('are few, and the error names all missing ones', () => {
    expect(problemsOf(enough)).toEqual([]);
    const problems = problemsOf({}).join('\n');
    for (const name of Object.keys(enough)) expect(problems).toContain(name);
    expect(problems).not.toMatch(/PRINCIPAL_MANAGER|HUB_EVENTS/);
  });

  it('may be next to those of the service, in the environment and in a file', () => {
    const file = join(directory, 'both.json');
    const both = { delivery: { drainSeconds: 7 }, methods: { drainSeconds: 20 }, http: { port: 1 } };
    writeFileSync(file, JSON.stringify(both));
    const env = {
      ...{ ...enough, CONFIG_FILE: file, DELIVERY_MAX_MESSAGES: '5', PRINCIPAL_MANAGER_URL: 'https://pm.example' },
      HUB_EVENTS_CONNECTION_STRING: `Endpoint=sb://hub.example/;SharedAccessKeyName=n;SharedAccessKey=${key};EntityPath=hub`,
    };
    expect(readMethodsSettings(env, directory)).toMatchObject({ methods: { drainSeconds: 20 }, http: { port: 1 } });
    expect(readSettings(env, directory)).toMatchObject({ delivery: { drainSeconds: 7 }, http: { port: 1 } });
  });

  it('that are unknown are refused in a file', () => {
    const file = join(directory, 'wrong.json');
    writeFileSync(file, JSON.stringify({ methods: { drainSecs: 20 }, backends: { color: 'red' } }));
    const problems = problemsOf({ ...enough, CONFIG_FILE: file }).join('\n');
    expect(problems).toMatch(/drainSecs(.|\n)*color|color(.|\n)*drainSecs/);
  });

  it.each<[string, Record<string, string>, string]>([
    ['the port of health', { METHODS_PORT: '8080' }, 'METHODS_PORT and HTTP_PORT must differ'],
    ['the port of the admin', { METHODS_PORT: '8181', ADMIN_PORT: '8181' }, 'METHODS_PORT and ADMIN_PORT must differ'],
    ['a key alone', { METHODS_TLS_KEY_FILE: '/key.pem' }, 'METHODS_TLS_CERTIFICATE_FILE and METHODS_TLS_KEY_FILE'],
    ['no key', { METHODS_TLS_CERTIFICATE_FILE: '/cert.pem' }, 'METHODS_TLS_CERTIFICATE_FILE and METHODS_TLS_KEY_FILE'],
    ...['METHODS_FILES', 'STORE'].map((name): [string, Record<string, string>, string] => {
      const ways = { [`${name}_CONNECTION_STRING`]: storage, [`${name}_ACCOUNT_URL`]: 'https://a.example' };
      const problem = `${name}_CONNECTION_STRING and ${name}_ACCOUNT_URL are two ways`;
      return [`two ways to ${name}`, { ...withFiles, IDENTITY: 'managed', ...ways }, problem];
    }),
    [
      'a container without an account',
      { METHODS_FILES_CONTAINER: 'files' },
      'METHODS_FILES_CONTAINER needs STORE_CONNECTION_STRING with the account’s key, METHODS_FILES_CONNECTION_STRING, or STORE_ACCOUNT_URL with IDENTITY',
    ],
    [
      'an account without a container',
      { METHODS_FILES_CONNECTION_STRING: storage },
      'METHODS_FILES_CONNECTION_STRING is not used without METHODS_FILES_CONTAINER',
    ],
    [
      'a store whose connection string can sign for no file',
      { STORE_CONNECTION_STRING: signature, METHODS_FILES_CONTAINER: 'files' },
      'METHODS_FILES_CONTAINER needs STORE_CONNECTION_STRING with the account’s key',
    ],
    ['a claim without files', { METHODS_FILES_TENANT_CLAIM: 'tid' }, 'METHODS_FILES_TENANT_CLAIM is not used'],
    ['a shared access signature', filesAt(signature), 'must have AccountName and AccountKey'],
    ['plain http', filesAt(storage.replace('https', 'http')), 'on this machine only'],
  ])('are refused with %s', (_, given, problem) =>
    expect(problemsOf({ ...enough, ...given })).toEqual([expect.stringContaining(problem)]),
  );

  it.each([
    ['checkpoints', {}, 'CHECKPOINTS_CONTAINER'],
    ['dead-letters', {}, 'DEAD_LETTERS_CONTAINER'],
    ['progress', { CHECKPOINTS_CONTAINER: 'progress' }, 'CHECKPOINTS_CONTAINER'],
  ])('refuse the container %s for files of methods', (container, given, name) =>
    expect(problemsOf({ ...withFiles, ...given, METHODS_FILES_CONTAINER: container })).toEqual([
      expect.stringContaining(`must not have the name in ${name}`),
    ]),
  );

  it.each([
    ['the store', { STORE_CONNECTION_STRING: storage, METHODS_FILES_CONTAINER: 'files' }],
    ['the emulator’s store', { STORE_CONNECTION_STRING: 'UseDevelopmentStorage=true', METHODS_FILES_CONTAINER: 'f-1' }],
    ['an account of their own beside a store that signs none', { ...withFiles, STORE_CONNECTION_STRING: signature }],
    ['an account of their own beside a service with files', { ...withFiles, STORE: 'file' }],
    ['no files, and a store for the service', { STORE: 'blob', STORE_CONNECTION_STRING: signature }],
  ])('allow for files of methods: %s', (_, given) => expect(problemsOf({ ...enough, ...given })).toEqual([]));

  it('allow any free port for each', () =>
    expect(problemsOf({ ...enough, METHODS_PORT: '0', HTTP_PORT: '0', ADMIN_PORT: '0' })).toEqual([]));

  it('do not repeat a secret', () => {
    const broken = { ...withFiles, METHODS_FILES_CONNECTION_STRING: `AccountKey=${key}` };
    expect(problemsOf(broken)).toHaveLength(1);
    expect(problemsOf(broken).join('\n')).not.toContain(key);
  });

  it('are listed in the pages', () => {
    const all = settingDocs().map(({ env }) => env);
    for (const { env } of settingDocs(methodsSchema)) expect(all).toContain(env);
  });
});
