import { Readable } from 'node:stream';
import { BlockBlobClient, ContainerClient } from '@azure/storage-blob';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { startForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { accountKey, connectionStringTo } from '../../sandbox/methods/azurite.ts';
import { idOf, UnreadableDeadLetter } from '../../src/stores/deadLetter.ts';
import { createBlobs } from '../../src/stores/labelledBlobs.ts';
import { openDeadLetters } from '../../src/stores/open.ts';
import { serve } from '../backends/harness.ts';
import { settingsWith } from '../support/environment.ts';
import { allLetters, letter, lettersIn } from '../support/letters.ts';
import { startLossyProxy } from '../support/lossyProxy.ts';
import { storageForAll } from '../support/storageAccount.ts';

const storage = storageForAll();
const proxy = startForEach(() => startLossyProxy(storage.port));
let container: string;
let containers = 0;
beforeEach(() => {
  containers += 1;
  container = `letters-${containers}`;
});

/** Short, so that a storage which does not answer is given up soon. */
const limits = { attemptMs: 100, attempts: 3, pauseMs: 1, verbMs: 1_000 };
const patient = { ...limits, attemptMs: 5_000, verbMs: 15_000 };

const open = (given = patient) => createBlobs({ account: storage.at(proxy.port), container, limits: given });
const id = idOf(letter(1));

describe('the container of dead letters', () => {
  it('is created at the first use, and has one JSON blob for each dead letter', async () => {
    await lettersIn(open()).park(letter(1));
    const blob = new ContainerClient(storage.connectionString, container).getBlobClient(`${id}.json`);
    expect(await blob.getProperties()).toMatchObject({ contentType: 'application/json' });
  });

  it.each(['lose', 503] as const)('is retried after a transient failure: %s', async (trouble) => {
    const letters = lettersIn(open());
    const troubled = new Set<string>();
    proxy.fate = ({ method = '', url = '' }) => {
      const isFirst = !troubled.has(`${method} ${url}`);
      troubled.add(`${method} ${url}`);
      return isFirst ? trouble : 'pass';
    };
    await letters.park(letter(1));
    expect(await allLetters(letters)).toHaveLength(1);
    await letters.remove(id);
    expect(await letters.ids()).toEqual([]);
  });

  it.each([
    ['entries', (place: ReturnType<typeof open>) => place.entries()],
    ['read', (place: ReturnType<typeof open>) => place.read(id)],
    ['write', (place: ReturnType<typeof open>) => place.write(id, 'x')],
    ['remove', (place: ReturnType<typeof open>) => place.remove(id)],
  ])('ends %s at its time-out when there is no answer, and reveals no secret', async (_verb, work) => {
    proxy.fate = () => 'hang';
    const failure = await work(open(limits)).then(String, String);
    expect(failure).toMatch(/^StorageError: dead-letter storage: .* failed: /);
    expect(failure).not.toContain(accountKey.slice(0, 20));
    expect(failure).not.toContain(String(proxy.port));
  });

  it('does not read a blob completely that is larger than any dead letter, and names it', async () => {
    const letters = lettersIn(open());
    await letters.park(letter(1));
    const blob = new ContainerClient(storage.connectionString, container).getBlockBlobClient(`${id}.json`);
    await blob.upload(Buffer.alloc(9 * 1024 * 1024, 'x'), 9 * 1024 * 1024);
    const refusal = await letters.read(id).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(UnreadableDeadLetter);
    expect(String(refusal)).toContain(`the blob ${id}.json has more than `);
  });

  it('ends the read of a dead letter at its time-out when the data stops in the middle', async () => {
    const url = await serve((_request, answer) => {
      answer.writeHead(206, { 'content-length': '10', 'content-range': 'bytes 0-9/10', etag: '"1"' });
      answer.write('12345');
    });
    const place = createBlobs({ account: storage.at(Number(new URL(url).port)), container, limits });
    await expect(place.read(id)).rejects.toThrow(`reading ${id} failed`);
  });
});

const forbidden = Object.assign(new Error('forbidden'), { statusCode: 403 });

it('no more than 32 calls to the storage of dead letters are open at once, though some of them fail', async () => {
  /** Ends of the calls that are open. */
  const open: (() => void)[] = [];
  let [calls, most] = [0, 0];
  async function call<T>(result: T): Promise<T> {
    calls += 1;
    const isForbidden = calls % 7 === 0;
    await new Promise<void>((resolve) => {
      open.push(resolve);
      most = Math.max(most, open.length);
    });
    if (isForbidden) throw forbidden;
    return result;
  }
  vi.spyOn(ContainerClient.prototype, 'createIfNotExists').mockResolvedValue({} as never);
  const { prototype } = BlockBlobClient;
  vi.spyOn(prototype, 'download').mockImplementation(() =>
    call({ readableStreamBody: Readable.from([Buffer.from('{}')]) } as never),
  );
  vi.spyOn(prototype, 'upload').mockImplementation(() => call({} as never));
  vi.spyOn(prototype, 'delete').mockImplementation(() => call({} as never));

  const blobs = createBlobs({ account: connectionStringTo(1), container: 'letters' });
  const ids = Array.from({ length: 50 }, (_, number) => idOf(letter(number)));
  let isDone = false;
  const work = Promise.allSettled(
    ids.flatMap((id) => [blobs.read(id), blobs.write(id, '{}'), blobs.remove(id)]),
  ).finally(() => (isDone = true));
  while (!isDone) {
    await new Promise(setImmediate);
    open.shift()?.();
  }
  const failed = (await work).filter(({ status }) => status === 'rejected');
  expect([calls, most, failed.length]).toEqual([150, 32, 21]);
});

it('the store of the settings is the container at its connection string', async () => {
  const given = {
    BACKENDS_TOKEN: 't',
    STORE: 'blob',
    STORE_CONNECTION_STRING: 'UseDevelopmentStorage=true',
    DEAD_LETTERS_CONTAINER: container,
    DEAD_LETTERS_CONNECTION_STRING: storage.connectionString,
  };
  await openDeadLetters(settingsWith(given), { warn: () => {} }).park(letter(1));
  expect(await lettersIn(open()).ids()).toEqual([id]);
});
