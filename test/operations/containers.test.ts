import { createServer, request } from 'node:http';
import { ContainerClient, ContainerSASPermissions } from '@azure/storage-blob';
import { describe, expect, it, vi } from 'vitest';
import { portForTest, startForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { accessOf } from '../../src/access/access.ts';
import { startLossyProxy } from '../support/lossyProxy.ts';
import { memoryAccount } from '../support/memoryAccount.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { frontDoorOf, serviceOf, tried } from './support/tried.ts';

// What `check` says of the containers.

const storage = storageForAll();
const proxy = startForEach(() => startLossyProxy(storage.port));

type Settings = Readonly<Record<string, string>>;
const settings = (more: Settings = {}) =>
  serviceOf({ STORE: 'blob', STORE_CONNECTION_STRING: storage.at(proxy.port), ...more });
const check = (of: 'checkpoints' | 'deadLetters', more?: Settings) =>
  tried(of === 'checkpoints' ? 'checkpoint container' : 'dead-letter container', settings(more));

describe.each([
  ['checkpoints', 'CHECKPOINTS'],
  ['deadLetters', 'DEAD_LETTERS'],
] as const)('the container of %s', (of, name) => {
  it('is well when it does all that is needed, in the account of its own if there is one, and nothing is left in it', async () => {
    proxy.fate = () => 403;
    const container = `left-${name.toLowerCase().replace('_', '-')}`;
    const own = { [`${name}_CONNECTION_STRING`]: storage.connectionString, [`${name}_CONTAINER`]: container };
    const [finding, ...more] = await check(of, own);
    expect([finding?.mark, more]).toEqual(['ok', []]);
    const left = [];
    for await (const blob of new ContainerClient(storage.connectionString, container).listBlobsFlat())
      left.push(blob.name);
    expect(left).toEqual([]);
  });

  it.each([
    [403, undefined, 1],
    [503, true, 2],
  ] as const)('is named with its setting when the answer is %i; an outage: %s', async (status, isOutage, requests) => {
    proxy.fate = ({ url = '' }) => (url.includes('restype=container') ? 'pass' : status);
    const [finding, ...more] = await check(of);
    expect([finding, more]).toMatchObject([
      { mark: 'failure', found: expect.stringMatching(`${status}.*\\(STORE_CONNECTION_STRING\\)`) },
      [],
    ]);
    expect(finding?.isOutage).toBe(isOutage);
    expect(proxy.seen.filter((seen) => seen.includes('/check/'))).toHaveLength(requests);
  });

  it('needs the right to delete only for dead letters; else it says what stays', async () => {
    const client = new ContainerClient(storage.connectionString, `signed-${name.toLowerCase().replace('_', '-')}`);
    await client.create();
    const permissions = ContainerSASPermissions.parse('rcwl');
    const url = await client.generateSasUrl({ permissions, expiresOn: new Date(Date.now() + 3_600_000) });
    const { origin, search } = new URL(url);
    const [finding] = await check(of, {
      [`${name}_CONNECTION_STRING`]: `BlobEndpoint=${origin}/${client.accountName};SharedAccessSignature=${search.slice(1)}`,
      [`${name}_CONTAINER`]: client.containerName,
    });
    const [, left = ''] = /may not delete, so (check\/\S+) stays/.exec(finding?.found ?? '') ?? [];
    expect([finding?.mark, left !== '']).toEqual(of === 'checkpoints' ? ['ok', true] : ['failure', false]);
    if (left !== '') expect(await client.getBlobClient(left).exists()).toBe(true);
  });
});

// What accounts are like shows in their headers: a proxy before azurite changes these.

interface Change {
  /** Added to each answer. */
  readonly answer?: Readonly<Record<string, string>>;
  /** Writes whose condition does not hold are answered as if they were taken. */
  readonly takesAll?: boolean;
}

/** The account, seen through a proxy. */
async function account({ answer = {}, takesAll = false }: Change): Promise<string> {
  const changing = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const forward = request({ port: storage.port, method, path, headers }, (response) => {
      const { statusCode = 0 } = response;
      const isTaken = takesAll && incoming.url?.includes('/check/') && (statusCode === 409 || statusCode === 412);
      outgoing.writeHead(isTaken ? 201 : statusCode, { ...response.headers, ...answer });
      response.pipe(outgoing);
    });
    incoming.pipe(forward);
  });
  return storage.at(await portForTest(changing));
}

const unconditional = ['failure', 'writes whose condition does not hold are taken'];
const well = ['ok', expect.stringContaining('read and deleted')];

it.each<[string, Change, unknown[]]>([
  ['a plain account', {}, [well]],
  [
    'versioning',
    { answer: { 'x-ms-version-id': '2026-01-01T00:00:00.0000000Z' } },
    [well, ['warning', expect.stringMatching(/^the account keeps versions: each checkpoint leaves one behind/)]],
  ],
  [
    'a hierarchical namespace',
    { answer: { 'x-ms-is-hns-enabled': 'true' } },
    [well, ['warning', expect.stringMatching(/^the account has a hierarchical namespace/)]],
  ],
  ['an account that keeps no conditions', { takesAll: true }, [unconditional]],
])('%s is seen, and matters for checkpoints', async (_, change, expected) => {
  const found = await check('checkpoints', { STORE_CONNECTION_STRING: await account(change) });
  expect(found.map(({ mark, found }) => [mark, found])).toEqual(expected);
});

const inMemory = async (account: ReturnType<typeof memoryAccount>) => {
  const access = { ...accessOf(settings()), account: () => account.access };
  const [finding] = await tried('dead-letter container', settings(), { access });
  return [finding?.mark, finding?.found];
};

it.each(['ifMatch', 'ifNoneMatch'] as const)('that %s is not kept is noticed, and nothing is left', async (one) => {
  const account = memoryAccount();
  account.keeps[one] = false;
  expect([await inMemory(account), account.blobs.size]).toEqual([unconditional, 0]);
});

it('what interrupted trials have left for ten minutes is deleted, and no other blob', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const account = memoryAccount();
  account.put('check/old');
  account.put('checkpoint');
  account.put('letters/old.json');
  vi.setSystemTime(Date.now() + 8 * 60_000);
  account.put('check/young');
  await inMemory(account);
  expect([...account.blobs.keys()]).toHaveLength(4);
  vi.setSystemTime(Date.now() + 3 * 60_000);
  await inMemory(account);
  expect([...account.blobs.keys()].sort()).toEqual(['check/young', 'checkpoint', 'letters/old.json']);
});

it.each(['LIST', 'GET'])('nothing is left when %s fails', async (verb) => {
  const account = memoryAccount();
  account.fate = (asked) => (asked.startsWith(verb) ? 409 : 'pass');
  expect(await inMemory(account)).toEqual(['failure', expect.stringContaining('409')]);
  expect(account.blobs.size).toBe(0);
});

describe('the container of files', () => {
  const checkOf = (container: string) =>
    tried(
      'files',
      frontDoorOf({
        METHODS_FILES_CONNECTION_STRING: storage.at(proxy.port),
        METHODS_FILES_CONTAINER: container,
      }),
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
