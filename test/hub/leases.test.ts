import { describe, expect, it, vi } from 'vitest';
import { createLeases } from '../../src/hub/reading/leases.ts';
import type { CheckpointStore, Lease } from '../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

const open = (store: CheckpointStore, me = 'me') => createLeases(store, me, 20_000, 10_000);

/** Partition 0 in a store, which `owner` has claimed. */
async function claimedBy(owner: string, store: CheckpointStore = createMemoryStore()) {
  const own = open(store, owner);
  const record = (await own.claim('0', undefined)) as Lease;
  return { store, record, own, mine: open(store) };
}

it('A partition is released although a renewal or a request comes in between, and its record keeps the requester', async () => {
  const store = createMemoryStore();
  let races = 3;
  const racing: CheckpointStore = {
    ...store,
    async change(seen, next) {
      if (seen && next.owner === '' && races-- > 0) await store.change(seen, { ...seen, wantedBy: `wisher ${races}` });
      return store.change(seen, next);
    },
  };
  const { mine, record } = await claimedBy('me', racing);
  const released = mine.release(record, 41);
  await vi.advanceTimersByTimeAsync(50 + 100 + 200);
  await released;
  expect(await store.ownerships()).toMatchObject([{ owner: '', wantedBy: 'wisher 0', begun: 41 }]);
});

it('A release that does not succeed is repeated with pauses that grow', async () => {
  const store = createMemoryStore();
  let asked = 0;
  const busy: CheckpointStore = {
    ...store,
    async change(seen, next) {
      if (next.owner !== '') return store.change(seen, next);
      asked += 1;
      return undefined;
    },
  };
  const { mine, record } = await claimedBy('me', busy);
  void mine.release(record, 41);
  await vi.advanceTimersByTimeAsync(35_000);
  expect(asked).toBe(22);
});

it('A partition that another instance has claimed is not released', async () => {
  const { store, mine, record } = await claimedBy('me');
  const theirs = await open(store, 'they').claim('0', record);
  await mine.release(record, 41);
  expect(await store.ownerships()).toEqual([theirs]);
});

it('The time of a request begins when it is made, so that the owner has its whole time to release', async () => {
  const { store, mine, record } = await claimedBy('they');
  await vi.advanceTimersByTimeAsync(5_000);
  await mine.ask(record);
  expect(await store.ownerships()).toMatchObject([{ owner: 'they', wantedBy: 'me', wantedSince: Date.now() }]);
});

it('A partition that this instance has claimed again is not released by its previous session', async () => {
  const { store, mine, record } = await claimedBy('me');
  const now = await mine.claim('0', record);
  await mine.release(record, 41);
  expect(await store.ownerships()).toEqual([now]);
});

it('Unknown values of a released partition stay unknown', async () => {
  const { store, mine, record } = await claimedBy('me');
  await mine.release(record, undefined);
  const [left] = await store.ownerships();
  expect(left).not.toHaveProperty('begun');
});

/** Ages of the record of partition 0, which an instance that has ended claimed at the start, at looks after these pauses. */
async function agesAfter(...pausesMs: number[]): Promise<(number | undefined)[]> {
  const { look } = (await claimedBy('ended')).mine;
  const ages: (number | undefined)[] = [];
  for (const pauseMs of pausesMs) {
    await vi.advanceTimersByTimeAsync(pauseMs);
    const [record] = await look();
    ages.push(record?.unrenewedMs);
  }
  return ages;
}

it('The age of a record is the time since its renewal', async () =>
  expect(await agesAfter(5_000, 10_000)).toEqual([5_000, 15_000]));
it('A long gap between two reads counts only in part, because other owners could not renew in it', async () =>
  expect(await agesAfter(5_000, 600_000, 5_000)).toEqual([5_000, 15_000, 20_000]));
it('The owner of a record expires although every read is late', async () =>
  expect(await agesAfter(12_000, 12_000, 12_000)).toEqual([10_000, 20_000, 30_000]));

it('A record is as old as it was when only the clock of the store is measured anew', async () => {
  const { mine, store } = await claimedBy('they');
  const { ownerships } = store;
  await vi.advanceTimersByTimeAsync(4_000);
  await mine.look();
  const shifted = (ms: number) => async () =>
    (await ownerships()).map((one) => ({ ...one, renewedAt: one.renewedAt + ms, wantedSince: one.wantedSince + ms }));
  for (const ms of [2_200, 0]) {
    store.ownerships = shifted(ms);
    await vi.advanceTimersByTimeAsync(4_000);
    await mine.look();
  }
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await mine.look()).toMatchObject([{ unrenewedMs: 16_000 }]);
});

it('A gap before the renewal of a record does not make it younger', async () => {
  const { mine, own, record } = await claimedBy('ended');
  await vi.advanceTimersByTimeAsync(60_000);
  await mine.look();
  await own.renew(record);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await mine.look()).toMatchObject([{ unrenewedMs: 5_000 }]);
});

describe('A change of the system clock', () => {
  const hourMs = 3_600_000;
  const set = (stepMs: number) => vi.setSystemTime(Date.now() + stepMs);

  it.each([
    ['forward', hourMs],
    ['back', -hourMs],
  ])('%s makes no record older or younger', async (_, stepMs) => {
    const { mine, record } = await claimedBy('they');
    await mine.ask(record);
    const { look } = mine;
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await look()).toMatchObject([{ unrenewedMs: 4_000, wantedMs: 4_000 }]);
    set(stepMs);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await look()).toMatchObject([{ unrenewedMs: 9_000, wantedMs: 9_000 }]);
  });

  it.each([
    ['forward', hourMs, 6_000],
    ['back', -hourMs, 0],
  ])('%s makes a record that was renewed since no older than the last read', async (_, stepMs, unrenewedMs) => {
    const { mine, own, record } = await claimedBy('they');
    await mine.look();
    await vi.advanceTimersByTimeAsync(1_000);
    await own.renew(record);
    set(stepMs);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await mine.look()).toMatchObject([{ unrenewedMs }]);
  });

  it('does not delay the expiry of an ended instance’s partition', async () => {
    const { look } = (await claimedBy('ended')).mine;
    await look();
    const ages: (number | undefined)[] = [];
    for (const stepMs of [-hourMs, hourMs, -24 * hourMs]) {
      set(stepMs);
      await vi.advanceTimersByTimeAsync(10_000);
      ages.push((await look())[0]?.unrenewedMs);
    }
    expect(ages).toEqual([10_000, 20_000, 30_000]);
  });
});

it('The wait for a request begins at the read that finds it, and again for another request', async () => {
  const { store, mine, record } = await claimedBy('they');
  const { look } = mine;
  await look();
  await mine.ask(record);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(await look()).toMatchObject([{ wantedBy: 'me', wantedMs: 3_000, unrenewedMs: 3_000 }]);
  const [asked] = await store.ownerships();
  await open(store, 'another').ask(asked as Lease);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await look()).toMatchObject([{ wantedBy: 'another', wantedMs: 1_000, unrenewedMs: 4_000 }]);
});

it('The wait for a store that does not answer ends at the limit', async () => {
  const { look } = open({ ...createMemoryStore(), ownerships: () => new Promise(() => {}) });
  const failed = expect(look()).rejects.toThrow('no answer within 20000 ms');
  await vi.advanceTimersByTimeAsync(20_000);
  await failed;
});
