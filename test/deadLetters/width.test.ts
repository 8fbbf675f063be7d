import { Readable } from 'node:stream';
import { BlockBlobClient, ContainerClient } from '@azure/storage-blob';
import { afterEach, expect, it, vi } from 'vitest';
import { connectionStringTo } from '../../sandbox/methods/azurite.ts';
import { createBlobs } from '../../src/deadLetters/blobs.ts';
import { idOf } from '../../src/deadLetters/deadLetter.ts';
import { letter } from '../support/letters.ts';

afterEach(() => vi.restoreAllMocks());

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
