import { beforeEach, describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createBlobStore } from '../../src/stores/blobCheckpoints.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createFileStore, createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { claimed, takeOver } from '../hub/support/claims.ts';
import { storageForAll } from '../support/storageAccount.ts';

const directory = folderForAll('stores');
const storage = storageForAll();

const inBlobs = (place: string) =>
  createBlobStore({
    ...{ account: storage.connectionString, container: 'checkpoints', namespace: 'hub.example' },
    ...{ hub: 'devices', consumerGroup: place },
  });

const kinds = {
  /** One store for all instances. */
  memory: () => {
    const store = createMemoryStore();
    return () => store;
  },
  /** One store for the instance; it is opened again after a restart. */
  file: (place: string) => {
    const store = createFileStore(directory, place);
    return () => store;
  },
  /** One client for each instance. */
  blob: (place: string) => () => inBlobs(place),
};

const at = (sequenceNumber: number, completed = '') => ({ sequenceNumber, offset: `o${sequenceNumber}`, completed });

/** Progress with a map of so many characters, which mean nothing to a store. */
const withMap = (sequenceNumber: number, length: number) =>
  at(sequenceNumber, `2 ${sequenceNumber} ${String(sequenceNumber % 10).repeat(length)}`);

let places = 0;
const newPlace = () => {
  places += 1;
  return `Group-${places}`;
};

describe.each(Object.entries(kinds))('the %s store', (_kind, open) => {
  let instance: () => CheckpointStore;
  beforeEach(() => (instance = open(newPlace())));

  it('is empty at first', async () => {
    const store = instance();
    expect(await store.ownerships()).toEqual([]);
    expect(await store.progress('0')).toBeUndefined();
  });

  it('keeps the values that a reader released its partition with, until the next claim', async () => {
    const record = await takeOver(instance(), 'a');
    await instance().change(record, { ...record, owner: '', begun: 41 });
    expect(await instance().ownerships()).toMatchObject([{ partition: '0', owner: '', epoch: 1, begun: 41 }]);
    await takeOver(instance(), 'b');
    const [claimedAgain] = await instance().ownerships();
    expect(claimedAgain).not.toHaveProperty('begun');
  });

  it('gives a new partition to one of many that claim it at once', async () => {
    const owners = ['a', 'b', 'c', 'd', 'e'];
    const stores = owners.map(instance);
    await Promise.all(stores.map((store) => store.ownerships()));
    const claims = await Promise.all(owners.map((owner, index) => stores[index]?.change(undefined, claimed(owner, 1))));
    const [won, ...more] = claims.filter((record) => record !== undefined);
    expect(more).toEqual([]);
    expect(await instance().ownerships()).toEqual([won]);
  });

  it('accepts one of many concurrent changes of a record', async () => {
    const seen = await takeOver(instance(), 'old');
    const owners = ['a', 'b', 'c', 'd', 'e'];
    const claims = await Promise.all(owners.map((owner) => instance().change(seen, claimed(owner, 2))));
    expect(claims.filter((record) => record !== undefined)).toHaveLength(1);
  });

  it('keeps the requester of a partition, and since when', async () => {
    const seen = await takeOver(instance(), 'a');
    const wantedSince = Date.now() - 1_234;
    await instance().change(seen, { ...seen, wantedBy: 'b', wantedSince });
    const etag = expect.not.stringMatching(seen.etag);
    expect(await instance().ownerships()).toEqual([{ ...seen, wantedBy: 'b', wantedSince, etag }]);
  });

  it('keeps the crash record beside position and map, for any next reader, until progress is written without one', async () => {
    const record = await takeOver(instance(), 'a');
    const noted = { ...withMap(4, 30), note: '1 3 42 17 17:2,25:0' };
    expect(await instance().writeCheckpoint(record, noted)).toBe(true);
    expect(await instance().progress('0')).toEqual(noted);
    const next = await takeOver(instance(), 'b');
    expect(await instance().progress('0')).toEqual(noted);
    expect(await instance().writeCheckpoint(record, { ...noted, note: '1 9 42 - -' })).toBe(false);
    expect(await instance().progress('0')).toEqual(noted);
    expect(await instance().writeCheckpoint(next, at(5))).toBe(true);
    expect(await instance().progress('0')).toEqual(at(5));
  });

  it('changes the crash record at a position that stays', async () => {
    const record = await takeOver(instance(), 'a');
    for (const note of ['1 2 42 17 -', '1 2 42 - -', '1 2 42 18 -']) {
      expect(await instance().writeCheckpoint(record, { ...at(4), note })).toBe(true);
      expect(await instance().progress('0')).toEqual({ ...at(4), note });
    }
  });

  it.each([40, 1_500_000])('returns position and a map of %i characters unchanged', async (length) => {
    const written = withMap(100, length);
    expect(await instance().writeCheckpoint(await takeOver(instance(), 'a'), written)).toBe(true);
    expect(await instance().progress('0')).toEqual(written);
    await takeOver(instance(), 'next');
    expect(await instance().progress('0')).toEqual(written);
  });

  it('keeps partitions apart', async () => {
    const store = instance();
    const written = { 0: withMap(1, 40_000), 1: withMap(2, 50_000), 10: at(3) };
    const writing = Object.entries(written).map(async ([partition, progress]) =>
      store.writeCheckpoint(await takeOver(store, 'a', partition), progress),
    );
    expect(await Promise.all(writing)).toEqual([true, true, true]);
    const kept = await Promise.all(['0', '1', '10', '2'].map((one) => instance().progress(one)));
    expect(kept).toEqual([...Object.values(written), undefined]);
    expect((await store.ownerships()).map(({ partition }) => partition).sort()).toEqual(['0', '1', '10']);
  });

  it('never moves progress backwards', async () => {
    const store = instance();
    const reader = await takeOver(store, 'a');
    for (const sequenceNumber of [5, 9, 7]) expect(await store.writeCheckpoint(reader, at(sequenceNumber))).toBe(true);
    expect(await store.progress('0')).toEqual(at(9));
    await store.writeCheckpoint(reader, at(10));
    expect(await store.progress('0')).toEqual(at(10));
  });

  it('never moves progress backwards on a change of reader', async () => {
    const [old, young] = [instance(), instance()];
    await old.writeCheckpoint(await takeOver(old, 'old'), at(50));
    const reader = await takeOver(young, 'young');
    expect(await young.writeCheckpoint(reader, at(40))).toBe(true);
    expect(await young.progress('0')).toEqual(at(50));
    await young.writeCheckpoint(reader, at(51));
    expect(await young.progress('0')).toEqual(at(51));
  });

  it('refuses the progress of a reader whose partition was taken over', async () => {
    const [old, young] = [instance(), instance()];
    const oldReader = await takeOver(old, 'old');
    await old.writeCheckpoint(oldReader, at(5));
    const youngReader = await takeOver(young, 'young');
    expect(await old.writeCheckpoint(oldReader, at(6))).toBe(false);
    expect(await young.progress('0')).toEqual(at(5));
    await young.writeCheckpoint(youngReader, at(7));
    expect(await old.writeCheckpoint(oldReader, at(8))).toBe(false);
    expect(await young.progress('0')).toEqual(at(7));
  });

  it('refuses the first progress of a reader whose partition was taken over', async () => {
    const [old, young] = [instance(), instance()];
    const oldReader = await takeOver(old, 'old');
    await takeOver(young, 'young');
    expect(await old.writeCheckpoint(oldReader, at(6))).toBe(false);
    expect(await young.progress('0')).toBeUndefined();
  });

  it('refuses the progress of a reader that released its partition', async () => {
    const store = instance();
    const reader = await takeOver(store, 'a');
    await store.writeCheckpoint(reader, at(5));
    await store.change(reader, { ...reader, owner: '' });
    expect(await store.writeCheckpoint(reader, at(6))).toBe(false);
    expect(await store.progress('0')).toEqual(at(5));
  });

  it('gives the same owner a new epoch when it returns, and rejects writes under its old one', async () => {
    const store = instance();
    const before = await takeOver(store, 'a');
    await store.writeCheckpoint(before, at(5));
    const after = await takeOver(store, 'a');
    expect(after.epoch).toBeGreaterThan(before.epoch);
    expect(await store.writeCheckpoint(before, at(6))).toBe(false);
    expect(await store.writeCheckpoint(after, at(7))).toBe(true);
  });
});
