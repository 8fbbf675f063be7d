import { expect, it, vi } from 'vitest';
import { type Consumer, createConsumer } from '../../src/hub/reading/consumer.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { hubEvent } from '../support/events.ts';
import { neverCrashing } from '../support/processLife.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { createFakeHub } from './support/fakeHub.ts';
import { usualOpened, usualReading } from './support/reading.ts';
import { standIns } from './support/standIns.ts';

vi.mock('@azure/event-hubs', async (sdk) => (await import('./support/standIns.ts')).withStandIns(await sdk<object>()));

withFakeTimers();

const roundMs = 1_000;

const never = () => new Promise<never>(() => {});

/** One instance that reads partition 0 and is in the middle of a message of many steps, each of which takes 100 ms. */
async function setUp() {
  const hub = createFakeHub(['0']);
  const network = { isHubOut: false };
  standIns.set('address', () => {
    const client = hub.client(neverCrashing());
    const { getPartitionProperties: ask } = client;
    return { ...client, getPartitionProperties: (id: string) => (network.isHubOut ? never() : ask(id)) };
  });
  const store = createMemoryStore();
  const steps: number[] = [];
  const consumer = createConsumer({
    ...usualReading,
    ...{ access: 'address', drainMs: 60_000, roundMs, silentMs: 20_000 },
    ...{ balance: { expiryMs: 30_000, forceMs: 90_000 }, store },
    partition: () => ({
      ...usualOpened(10),
      async dispatch(_, { ended }) {
        while (!ended.aborted) {
          steps.push(Date.now());
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        return false;
      },
      limits: { everyMessages: 1, everyMs: 500, deviceMessages: 16 },
    }),
  });
  consumer.start();
  hub.append('0', hubEvent({ sequenceNumber: 0 }));
  await vi.advanceTimersByTimeAsync(3_000);
  return { network, store, consumer, steps };
}

const change = async (store: ReturnType<typeof createMemoryStore>, what: object) => {
  const [record] = await store.ownerships();
  expect(record && (await store.change(record, { ...record, ...what }))).toBeDefined();
};

it.each(['hands its partition over', 'stops'])(
  'an instance that %s sends and calls nothing more after it sees that another instance owns the partition',
  async (why) => {
    const { store, consumer, steps } = await setUp();
    if (why === 'stops') void consumer.stop();
    else await change(store, { wantedBy: 'other', wantedSince: Date.now() });
    await vi.advanceTimersByTimeAsync(2 * roundMs);
    expect(steps.at(-1)).toBeGreaterThanOrEqual(Date.now() - 100); // it drains
    const [record] = await store.ownerships();
    await change(store, { owner: 'other', epoch: (record?.epoch ?? 0) + 1, wantedBy: '' });
    await vi.advanceTimersByTimeAsync(roundMs);
    const until = steps.length;
    await vi.advanceTimersByTimeAsync(10 * roundMs);
    expect(steps.slice(until)).toEqual([]);
    expect((await store.ownerships())[0]).toMatchObject({ owner: 'other' });
    expect(await store.progress('0')).toBeUndefined();
    if (why !== 'stops') void consumer.stop();
  },
);

it.each([
  ['neither the store nor the hub answers', true, true, 25],
  ['the hub does not answer', false, true, undefined],
  ['the store does not answer', true, false, undefined],
])(
  'while %s, an instance that others would not tell of their taking over does not go on',
  async (_, isStoreOut, isHubOut, seconds) => {
    const { network, store, consumer, steps } = await setUp();
    const { ownerships } = store;
    const looking = setInterval(consumer.lookForContact, 100);
    await vi.advanceTimersByTimeAsync(roundMs - 1);
    if (isStoreOut) store.ownerships = never;
    network.isHubOut = isHubOut;
    const cutAt = Date.now();
    await vi.advanceTimersByTimeAsync(60_000);
    const went = (steps.at(-1) ?? 0) - cutAt;
    if (seconds === undefined) expect(went).toBeGreaterThanOrEqual(59_800);
    else {
      expect(went).toBeLessThanOrEqual(seconds * 1_000);
      expect(went).toBeGreaterThan((seconds - 3) * 1_000);
      store.ownerships = ownerships;
      network.isHubOut = false;
      await vi.advanceTimersByTimeAsync(30_000);
      expect([consumer.missing(), consumer.partitions().length]).toEqual([[], 1]);
    }
    clearInterval(looking);
    void consumer.stop();
  },
);

it('a partition that could not be opened is told with its owner, until it is told as read', async () => {
  const { store, consumer } = await setUp();
  const { progress } = store;
  let told = '';
  store.progress = () => Promise.reject(new Error('no store'));
  consumer.stoodStill(60_000);
  for (let ms = 0; ms < 20 * roundMs; ms += 50) {
    await vi.advanceTimersByTimeAsync(50);
    const [read, unread] = [consumer.partitions().length, consumer.elsewhere().length];
    expect(read + unread).toBeLessThan(2);
    if (unread > 0) store.progress = progress;
    if (read + unread > 0 && !told.endsWith(read > 0 ? 'r' : 'o')) told += read > 0 ? 'r' : 'o';
  }
  expect(told).toBe('or');
  void consumer.stop();
});

it('a stop that takes longer than the ownership expiry keeps its partitions until it releases them, and no finished message is repeated', async () => {
  const hub = createFakeHub(['0']);
  const store = createMemoryStore();
  const handled: string[] = [];
  const enter = (name: string): Consumer => {
    standIns.set(name, () => hub.client(neverCrashing()));
    const consumer = createConsumer({
      ...usualReading,
      ...{ access: name, drainMs: 60_000, roundMs: 5_000, silentMs: 20_000 },
      ...{ balance: { expiryMs: 30_000, forceMs: 75_000 }, store },
      partition: () => ({
        ...usualOpened(10),
        receivedMessageOf: (event) => ({ event, deviceId: String(event.sequenceNumber) }),
        async dispatch({ event }) {
          await new Promise((resolve) => setTimeout(resolve, 50_000));
          handled.push(`${name} ${event.sequenceNumber}`);
          return true;
        },
        limits: { everyMessages: 100, everyMs: 5_000, deviceMessages: 16 },
      }),
    });
    consumer.start();
    return consumer;
  };
  const first = enter('first');
  await vi.advanceTimersByTimeAsync(1_000);
  for (const sequenceNumber of [0, 1, 2]) hub.append('0', hubEvent({ sequenceNumber }));
  await vi.advanceTimersByTimeAsync(1_000);
  const second = enter('second');
  const stopping = first.stop();
  await vi.advanceTimersByTimeAsync(200_000);
  await stopping;
  void second.stop();
  expect(handled).toEqual(['first 0', 'first 1', 'first 2']);
  expect(await store.progress('0')).toMatchObject({ sequenceNumber: 2 });
});
