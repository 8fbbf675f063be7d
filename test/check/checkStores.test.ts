import { ContainerClient, ContainerSASPermissions } from '@azure/storage-blob';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkContainer, checkFiles } from '../../src/check/checkStores.ts';
import { readMethodsSettings } from '../../src/settings/config.ts';
import { settingsWith } from '../support/environment.ts';
import { type LossyProxy, startLossyProxy } from '../support/lossyProxy.ts';
import { storageForAll } from '../support/storageAccount.ts';

// What `check` says of the containers.

const storage = storageForAll();
let proxy: LossyProxy;
beforeEach(async () => {
  proxy = await startLossyProxy(storage.port);
});
afterEach(() => proxy.close());

const check = async (of: 'checkpoints' | 'deadLetters', more: Readonly<Record<string, string>> = {}) =>
  checkContainer(
    'the container',
    of,
    settingsWith({ BACKENDS_TOKEN: 't', STORE: 'blob', STORE_CONNECTION_STRING: storage.at(proxy.port), ...more }),
  );

describe.each([
  ['checkpoints', 'CHECKPOINTS'],
  ['deadLetters', 'DEAD_LETTERS'],
] as const)('the container of %s', (of, name) => {
  it('is well when it does all that is needed, in the account of its own if there is one', async () => {
    proxy.fate = () => 403;
    const [finding, ...more] = await check(of, { [`${name}_CONNECTION_STRING`]: storage.connectionString });
    expect([finding?.mark, more]).toEqual(['ok', []]);
  });

  it.each([
    [403, undefined, 1],
    [503, true, 2],
  ] as const)(
    'is named with its setting when the account answers %i; an outage: %s',
    async (status, isOutage, requests) => {
      proxy.fate = ({ url = '' }) => (url.includes('restype=container') ? 'pass' : status);
      const [finding, ...more] = await check(of);
      expect([finding, more]).toMatchObject([
        { mark: 'failure', found: expect.stringMatching(`${status}.*\\(STORE_CONNECTION_STRING\\)`) },
        [],
      ]);
      expect(finding?.isOutage).toBe(isOutage);
      expect(proxy.seen.filter((seen) => seen.includes('/check/'))).toHaveLength(requests);
    },
  );

  it('needs the right to delete only for dead letters', async () => {
    const client = new ContainerClient(storage.connectionString, `signed-${name.toLowerCase().replace('_', '-')}`);
    await client.create();
    const permissions = ContainerSASPermissions.parse('rcwl');
    const url = await client.generateSasUrl({ permissions, expiresOn: new Date(Date.now() + 3_600_000) });
    const { origin, search } = new URL(url);
    const [finding] = await check(of, {
      [`${name}_CONNECTION_STRING`]: `BlobEndpoint=${origin}/${client.accountName};SharedAccessSignature=${search.slice(1)}`,
      [`${name}_CONTAINER`]: client.containerName,
    });
    expect(finding?.mark).toBe(of === 'checkpoints' ? 'ok' : 'failure');
    if (of === 'checkpoints') expect(finding?.found).toMatch(/may not delete, so check\/\S+ stays/);
  });
});

describe('the container of files', () => {
  const checkOf = (container: string) =>
    checkFiles(
      readMethodsSettings(
        {
          ...{ HUB_SERVICE_CONNECTION_STRING: 'HostName=hub.example;SharedAccessKeyName=n;SharedAccessKey=a2V5' },
          ...{ INFORMATION_MODEL_URL: 'https://im.example', TYPE_REGISTRY_URL: 'https://tr.example' },
          ...{ BACKENDS_TOKEN: 't', METHODS_FILES_CONNECTION_STRING: storage.at(proxy.port) },
          METHODS_FILES_CONTAINER: container,
        },
        'no-such-directory',
      ),
    );

  it('is well when it answers, though it has no file; else its setting is named', async () => {
    await new ContainerClient(storage.connectionString, 'files').create();
    expect(await checkOf('files')).toMatchObject([{ mark: 'ok' }]);
    expect(await checkOf('no-files')).toMatchObject([
      { mark: 'failure', found: expect.stringContaining('METHODS_FILES_CONTAINER') },
    ]);
    proxy.fate = () => 503;
    expect(await checkOf('files')).toMatchObject([
      { isOutage: true, found: expect.stringContaining('METHODS_FILES_CONNECTION_STRING') },
    ]);
  });
});
