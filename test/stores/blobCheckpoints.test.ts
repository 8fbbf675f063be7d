import { ContainerClient } from '@azure/storage-blob';
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { accountKey } from '../../sandbox/methods/azurite.ts';
import { decodeCompletion, encodeCompletion } from '../../src/engine/completionMap.ts';
import { storeFailureOf } from '../../src/observing/storeFailure.ts';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import { claimed, takeOver } from '../hub/support/claims.ts';
import { startLossyProxy } from '../support/lossyProxy.ts';
import { storageForAll } from '../support/storageAccount.ts';

const storage = storageForAll();
const proxy = startForEach(() => startLossyProxy(storage.port));
let container: ContainerClient;
let group = 0;
beforeAll(async () => {
  container = new ContainerClient(storage.connectionString, 'progress');
  await container.create();
});
beforeEach(() => {
  group += 1;
});

/** Short, so that a storage which does not answer is given up soon. */
const limits = { attemptMs: 100, attempts: 3, pauseMs: 1, verbMs: 1_000 };
const inPatience = { ...limits, attemptMs: 5_000, verbMs: 15_000 };

const open = (port = storage.port, given = inPatience) =>
  createBlobStore({
    ...{ account: storage.at(port), container: 'progress', namespace: 'Hub.Example', hub: 'Devices' },
    ...{ consumerGroup: `Group${group}`, limits: given },
  });

const blobOf = (kind: 'ownership' | 'checkpoint', partition = '0') =>
  container.getBlockBlobClient(`hub.example/devices/group${group}/${kind}/${partition}`);
const labelsOf = async (...args: Parameters<typeof blobOf>) => (await blobOf(...args).getProperties()).metadata;

const at = (sequenceNumber: number) => ({ sequenceNumber, offset: `o${sequenceNumber}`, completed: '' });

/** Of the reader before, ahead of the new one. */
const late = { sequencenumber: '50', offset: 'o50', owner: 'me', epoch: '1' };

async function claim(store = open(), epoch = 1) {
  const record = await store.change(undefined, claimed('me', epoch));
  if (record === undefined) throw new Error('not claimed');
  return record;
}

describe('the blob store’s records', () => {
  it('have the blob names that the stock Event Hubs clients and KEDA use, in lower case since the hub ignores the case', async () => {
    const store = open();
    const reader = await claim(store);
    await store.writeCheckpoint(reader, at(41));
    expect(await labelsOf('checkpoint')).toMatchObject({ sequencenumber: '41', offset: 'o41' });
    expect(await labelsOf('ownership')).toMatchObject({ ownerid: 'me' });
  });

  it('of a stock client are continued', async () => {
    await blobOf('checkpoint').upload('', 0, { metadata: { sequencenumber: '77', offset: '4096' } });
    await blobOf('ownership').upload('', 0, { metadata: { ownerid: 'stock' } });
    const store = open();
    expect(await store.progress('0')).toEqual({ sequenceNumber: 77, offset: '4096', completed: '' });
    const [record] = await store.ownerships();
    expect(record).toMatchObject({ partition: '0', owner: 'stock', epoch: 0, wantedBy: '' });
    const reader = await store.change(record, claimed('me', 1));
    expect(reader && (await store.writeCheckpoint(reader, at(78)))).toBe(true);
  });

  it('without labels do not affect others, and their partitions can be claimed', async () => {
    const store = open();
    await store.change(undefined, claimed('me', 1, '1'));
    await blobOf('ownership', '0').upload('', 0);
    const records = await store.ownerships();
    expect(records.map(({ partition, owner }) => `${partition}: ${owner}`)).toEqual(['0: ', '1: me']);
    expect(await store.progress('0')).toBeUndefined();
    const reader = await store.change(records[0], claimed('me', 1, '0'));
    expect(reader && (await store.writeCheckpoint(reader, at(3)))).toBe(true);
    expect(await store.progress('0')).toEqual(at(3));
  });

  it('have an epoch above the last writer of the checkpoint, even if the ownership was deleted', async () => {
    const store = open();
    const before = await claim(store, 6);
    await store.writeCheckpoint(before, at(5));
    await blobOf('ownership').delete();
    const after = await claim(open());
    expect(after.epoch).toBe(7);
    expect(await store.writeCheckpoint(before, at(6))).toBe(false);
    expect(await open().writeCheckpoint(after, at(7))).toBe(true);
  });

  it('of a reader are written again with its epoch when somebody has deleted the ownership', async () => {
    const store = open();
    const reader = await claim(store, 6);
    await store.writeCheckpoint(reader, at(5));
    await blobOf('ownership').delete();
    expect(await store.change(undefined, { ...claimed('me', 6) })).toMatchObject({ owner: 'me', epoch: 6 });
    expect(await store.writeCheckpoint(reader, at(6))).toBe(true);
  });

  it('on which somebody holds a lease are not changed, which is told as such and not as a lost race', async () => {
    const store = open();
    const reader = await claim(store);
    await store.writeCheckpoint(reader, at(5));
    for (const kind of ['ownership', 'checkpoint'] as const) await blobOf(kind).getBlobLeaseClient().acquireLease(-1);
    const failures = [
      await store.change(reader, { ...reader, owner: '' }).catch((error) => error),
      await store.writeCheckpoint(reader, at(6)).catch((error) => error),
    ];
    for (const failure of failures)
      expect(storeFailureOf(failure, { setting: 'STORE_CONNECTION_STRING' })).toMatchObject({
        message: expect.stringMatching(/writing hub.example\/devices\/group\d+\/(ownership|checkpoint)\/0 failed/),
        diagnosis: { storeSaid: '412 LeaseIdMissing', todo: expect.stringContaining('holds a lease on the blob') },
      });
  });
});

const long = (digit: number) => `2 ${digit} ${String(digit).repeat(9_000)}`;
const contentOf = async () => (await blobOf('checkpoint').downloadToBuffer()).toString();

describe('the completion map of a checkpoint', () => {
  const map = encodeCompletion(41, [{ first: 43, last: 50 }]);
  async function written(completed: string, store = open()) {
    const reader = await claim(store);
    await store.writeCheckpoint(reader, { ...at(41), completed });
    return { store, reader };
  }

  it('is the content of the blob, and the labels have the position', async () => {
    await written(long(7));
    expect(await labelsOf('checkpoint')).toMatchObject({ sequencenumber: '41', offset: 'o41' });
    expect(await contentOf()).toBe(long(7));
  });

  it.each([
    ['goes on', { sequencenumber: '60', offset: 'o60' }],
    ['goes back', { sequencenumber: '30', offset: 'o30' }],
  ])('is ignored after a stock client %s', async (_what, metadata) => {
    await written(map);
    await blobOf('checkpoint').setMetadata(metadata);
    const { sequenceNumber = 0, completed = '', ...more } = (await open().progress('0')) ?? {};
    const { sequencenumber, offset } = metadata;
    expect({ sequenceNumber, ...more }).toEqual({ sequenceNumber: Number(sequencenumber), offset });
    const expected = [expect.anything(), undefined];
    expect([decodeCompletion(41, completed), decodeCompletion(sequenceNumber, completed)]).toEqual(expected);
  });

  it('is read together with the position, in one request', async () => {
    await written(map);
    expect(await open(proxy.port).progress('0')).toEqual({ ...at(41), completed: map });
    expect(proxy.seen).toEqual([expect.stringMatching(/^GET .*\/checkpoint\/0$/)]);
  });

  it('is written together with the position in one request, and again only when the answer was lost', async () => {
    const { store, reader } = await written(long(1), open(proxy.port));
    for (const [sequenceNumber, fate] of [[42, 'pass'] as const, [43, 'lose'] as const, [44, 'pass'] as const]) {
      proxy.seen.length = 0;
      if (fate === 'lose') strikeOnce('PUT', '/checkpoint/', fate);
      await store.writeCheckpoint(reader, { ...at(sequenceNumber), completed: long(sequenceNumber) });
      expect(proxy.seen.filter((one) => one.startsWith('PUT'))).toHaveLength(fate === 'lose' ? 2 : 1);
      if (fate === 'pass') expect(proxy.seen).toHaveLength(1);
      expect(await open().progress('0')).toEqual({ ...at(sequenceNumber), completed: long(sequenceNumber) });
    }
  });

  it('is not read completely when it is longer than any that the service writes', async () => {
    await written(map);
    const labels = (await labelsOf('checkpoint')) ?? {};
    await blobOf('checkpoint').upload('A'.repeat(9_000_000), 9_000_000, { metadata: labels });
    const { completed = '' } = (await open().progress('0')) ?? {};
    expect(completed.length).toBeGreaterThan(4_000_000);
    expect(completed.length).toBeLessThan(5_000_000);
  });
});

describe('the blob store’s fence', () => {
  it('is on the checkpoint as soon as a claim returns', async () => {
    const old = open();
    const before = await claim(old);
    await old.writeCheckpoint(before, at(5));
    const young = open();
    const reader = await takeOver(young, 'young');
    expect(await labelsOf('checkpoint')).toMatchObject({ sequencenumber: '5', owner: 'young', epoch: '2' });
    expect(reader.epoch).toBe(2);
  });

  it('refuses a late writer that is ahead of the new owner, and keeps its map', async () => {
    const old = open();
    const before = await claim(old);
    const young = open();
    const reader = await takeOver(young, 'young');
    // The checkpoint appears between the claim and the first write of the new reader.
    await blobOf('checkpoint').upload(long(5), long(5).length, { metadata: late });
    expect(await young.writeCheckpoint(reader, at(40))).toBe(true);
    expect(await labelsOf('checkpoint')).toMatchObject({ sequencenumber: '50', epoch: '2' });
    expect(await open().progress('0')).toEqual({ ...at(50), completed: long(5) });
    expect(await old.writeCheckpoint(before, at(51))).toBe(false);
  });

  it('does not take a foreign write of the checkpoint for its own', async () => {
    const store = open();
    const reader = await claim(store);
    await store.writeCheckpoint(reader, at(5));
    await blobOf('checkpoint').setMetadata({ sequencenumber: '60', offset: 'o60' });
    expect(await store.writeCheckpoint(reader, at(6))).toBe(true);
    expect(await store.progress('0')).toEqual(at(60));
  });
});

describe('the blob store’s clock', () => {
  it('is the storage’s: an instance with a wrong clock sees renewals and release requests at its own time', async () => {
    const store = open();
    const seen = await claim(store);
    const now = Date.now();
    await store.change(seen, { ...seen, wantedBy: 'other', wantedSince: now });
    for (const wrongBy of [600_000, -600_000]) {
      vi.useFakeTimers({ toFake: ['Date'], now: now + wrongBy });
      const [record] = await open().ownerships();
      for (const time of [record?.renewedAt, record?.wantedSince])
        expect(Math.abs((time ?? 0) - Date.now())).toBeLessThan(30_000);
    }
  });

  it('does not count a release request as a renewal by the owner', async () => {
    const store = open();
    const seen = await claim(store);
    await store.change(seen, { ...seen, wantedBy: 'other', wantedSince: 1 });
    expect(await labelsOf('ownership')).toMatchObject({ renewedat: String(seen.renewedAt) });
    const [asked] = await store.ownerships();
    if (asked) await store.change(asked, { ...asked, renewedAt: Date.now() + 1 });
    expect(await labelsOf('ownership')).not.toHaveProperty('renewedat');
  });
});

/** Strikes the first request that fits, and no other. */
function strikeOnce(method: string, kind: string, fate: 'lose' | 'hang' | number) {
  let struck = false;
  proxy.fate = ({ method: given, url = '' }) => {
    if (struck || given !== method || !url.includes(kind)) return 'pass';
    struck = true;
    return fate;
  };
}

describe('the blob store, when the storage fails', () => {
  it('recognises its own claim when the answer was lost', async () => {
    const store = open(proxy.port);
    await store.ownerships();
    strikeOnce('PUT', '/ownership/', 'lose');
    const record = await claim(store);
    expect(proxy.seen.filter((one) => one.startsWith('PUT') && one.includes('/ownership/'))).toHaveLength(2);
    expect(await open().ownerships()).toEqual([record]);
  });

  it('does not take another’s claim for its own when its own never arrived', async () => {
    const store = open(proxy.port);
    await store.ownerships();
    await claim(open());
    strikeOnce('PUT', '/ownership/', 503);
    expect(await store.change(undefined, claimed('other', 1))).toBeUndefined();
  });

  it.each(['ownerships', 'change', 'progress', 'writeCheckpoint'] as const)(
    'ends %s at its time-out when there is no answer',
    async (verb) => {
      await claim();
      const store = open(proxy.port, limits);
      const reader = { partition: '0', owner: 'me', epoch: 1 };
      const calls = {
        ownerships: () => store.ownerships(),
        change: () => store.change(undefined, claimed('me', 1)),
        progress: () => store.progress('0'),
        writeCheckpoint: () => store.writeCheckpoint(reader, at(1)),
      };
      proxy.fate = () => 'hang';
      await expect(calls[verb]()).rejects.toThrow(/^checkpoint storage: .* failed: AbortError$/);
    },
  );

  it('reports what failed and why, without the key or the request', async () => {
    const ended = await startLossyProxy(storage.port);
    await ended.close();
    proxy.fate = () => 403;
    const failureAt = (port: number) =>
      open(port)
        .progress('0')
        .then(() => new Error('none'))
        .catch((error: Error) => error);
    const [unreached, refused] = [await failureAt(ended.port), await failureAt(proxy.port)];
    const reading =
      /^checkpoint storage: reading hub\.example\/.*\/checkpoint\/0 failed: (ECONNREFUSED|REQUEST_SEND_ERROR)$/;
    expect(unreached.message).toMatch(reading);
    expect(refused.message).toMatch(/^checkpoint storage: reading .* failed: 403 /);
    for (const { message, stack = '', cause } of [unreached, refused]) {
      expect(`${message}${stack}`).not.toContain(accountKey);
      expect(cause).toBeUndefined();
    }
  });
});
