import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ContainerClient, ContainerSASPermissions } from '@azure/storage-blob';
import { afterEach, expect, it, vi } from 'vitest';
import { tryContainer, UnconditionalStorage } from '../../src/storage/containerTrial.ts';
import { memoryAccount } from '../support/memoryAccount.ts';
import { storageForAll } from '../support/storageAccount.ts';

// What accounts are like shows in their headers: a proxy before azurite changes these.

const storage = storageForAll();

let proxy: Server | undefined;
afterEach(() => new Promise<void>((resolve) => (proxy ? proxy.close(() => resolve()) : resolve())));

interface Change {
  /** Added to each answer. */
  readonly answer?: Readonly<Record<string, string>>;
  /** Writes whose condition does not hold are answered as if they were taken. */
  readonly takesAll?: boolean;
}

/** The account, seen through a proxy. */
async function account({ answer = {}, takesAll = false }: Change): Promise<string> {
  proxy = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const forward = request({ port: storage.port, method, path, headers }, (response) => {
      const { statusCode = 0 } = response;
      const isTaken = takesAll && incoming.url?.includes('/check/') && (statusCode === 409 || statusCode === 412);
      outgoing.writeHead(isTaken ? 201 : statusCode, { ...response.headers, ...answer });
      response.pipe(outgoing);
    });
    incoming.pipe(forward);
  });
  await new Promise<void>((resolve) => proxy?.listen(0, '127.0.0.1', resolve));
  return storage.at((proxy.address() as AddressInfo).port);
}

let containers = 0;
const trial = (connectionString: string, container = `trial-${++containers}`) =>
  tryContainer({ account: connectionString, container, mustDelete: true, name: 'checkpoints', withinMs: 30_000 });

it('leaves nothing in the container but the container', async () => {
  await trial(storage.connectionString, 'left');
  const left = [];
  for await (const { name } of new ContainerClient(storage.connectionString, 'left').listBlobsFlat()) left.push(name);
  expect(left).toEqual([]);
});

it.each([
  ['a plain account', {}, { keepsVersions: false, isHierarchical: undefined, left: undefined }],
  [
    'versioning',
    { answer: { 'x-ms-version-id': '2026-01-01T00:00:00.0000000Z' } },
    { keepsVersions: true, isHierarchical: undefined, left: undefined },
  ],
  [
    'a hierarchical namespace',
    { answer: { 'x-ms-is-hns-enabled': 'true' } },
    { keepsVersions: false, isHierarchical: true, left: undefined },
  ],
])('sees %s', async (_, change, expected) => expect(await trial(await account(change))).toEqual(expected));

it('needs no right to delete where the service needs none, and says what stays', async () => {
  const client = new ContainerClient(storage.connectionString, 'signed');
  await client.create();
  const url = await client.generateSasUrl({
    permissions: ContainerSASPermissions.parse('rcwl'),
    expiresOn: new Date(Date.now() + 3_600_000),
  });
  const { origin, search } = new URL(url);
  const connectionString = `BlobEndpoint=${origin}/${client.accountName};SharedAccessSignature=${search.slice(1)}`;
  const options = { account: connectionString, container: 'signed', name: 'checkpoints', withinMs: 30_000 };
  const { left = '' } = await tryContainer({ ...options, mustDelete: false });
  expect(left).toMatch(/^check\//);
  expect(await client.getBlobClient(left).exists()).toBe(true);
  await expect(tryContainer({ ...options, mustDelete: true })).rejects.toMatchObject({ status: 403 });
});

it('notices that conditions are not kept', async () =>
  await expect(trial(await account({ takesAll: true }))).rejects.toThrow(UnconditionalStorage));

const inMemory = (account: ReturnType<typeof memoryAccount>) =>
  tryContainer({ account: account.access, container: 'c', mustDelete: true, name: 'checkpoints', withinMs: 30_000 });

it.each(['ifMatch', 'ifNoneMatch'] as const)(
  'notices that the condition %s is not kept, and leaves nothing',
  async (one) => {
    const account = memoryAccount();
    account.keeps[one] = false;
    await expect(inMemory(account)).rejects.toThrow(UnconditionalStorage);
    expect(account.blobs.size).toBe(0);
  },
);

it('deletes what interrupted trials have left for ten minutes, and no other blob', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
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
  } finally {
    vi.useRealTimers();
  }
});

it.each(['LIST', 'GET'])('leaves nothing when %s fails', async (verb) => {
  const account = memoryAccount();
  account.fate = (asked) => (asked.startsWith(verb) ? 409 : 'pass');
  await expect(inMemory(account)).rejects.toMatchObject({ status: 409 });
  expect(account.blobs.size).toBe(0);
});
