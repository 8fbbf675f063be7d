import { afterEach, describe, expect, it, vi } from 'vitest';
import { createConsumer } from '../../src/hub/reading/consumer.ts';
import type { CheckpointStore } from '../../src/stores/checkpointStore.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { createFakeHub } from '../hub/support/fakeHub.ts';
import { storeThrough, usualOpened, usualReading } from '../hub/support/reading.ts';
import { standIns } from '../hub/support/standIns.ts';
import { hubEvent } from '../support/events.ts';
import { neverCrashing, type ProcessLife } from '../support/processLife.ts';
import { withFakeTimers } from '../support/waiting.ts';

// Which ends of a session are unclean shutdowns, as the next reader of a partition sees it.

vi.mock('@azure/event-hubs', async (original) =>
  (await import('../hub/support/standIns.ts')).withStandIns(await original<object>()),
);

withFakeTimers();
afterEach(() => void vi.clearAllTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** One partition with a message that hangs, and any number of instances over one store. */
function setUp() {
  const hub = createFakeHub(['0']);
  hub.append('0', hubEvent({ sequenceNumber: 0 }));
  const store = createMemoryStore();
  const written: (string | undefined)[] = [];
  const writeCheckpoint: typeof store.writeCheckpoint = (reader, next) => {
    written.push(next.note);
    return store.writeCheckpoint(reader, next);
  };
  let instances = 0;

  function start(life: ProcessLife = neverCrashing(), through: Partial<CheckpointStore> = {}) {
    instances += 1;
    const name = `instance ${instances}`;
    standIns.set(name, () => hub.client(life));
    const consumer = createConsumer({
      ...usualReading,
      ...{ access: name, batchSize: 3, prefetch: 10, silentMs: 4_000, roundMs: 100, answerMs: 250 },
      ...{ drainMs: 200, balance: { expiryMs: 500, forceMs: 700 } },
      store: storeThrough({ ...store, ...through, writeCheckpoint }, life.step),
      partition: () => ({
        ...usualOpened(6),
        dispatch: (_, { ended }) =>
          new Promise((resolve) => ended.addEventListener('abort', () => resolve(false), { once: true })),
        limits: { everyMessages: 3, everyMs: 100 },
      }),
    });
    consumer.start();
    void life.death.then(() => consumer.stop()); // only its timers are left to end
    return consumer;
  }

  return { hub, store, written, start };
}

describe('a partition', () => {
  it('that was never read begins without a crash record', async () => {
    const { start, written } = setUp();
    start();
    await pass(1_000);
    expect(written).toEqual([]);
  });

  it('whose reader died has that recorded once, before it is read, and once more after the next death', async () => {
    const { start, written } = setUp();
    for (const notes of [[], ['2 1 0 - -'], ['2 1 0 - -', '2 2 0 - -']]) {
      const life = neverCrashing();
      start(life);
      await pass(1_500);
      expect(written).toEqual(notes);
      life.kill();
      await pass(300);
    }
  });

  it('that was released is read without a new count, and the earlier count stays', async () => {
    const { start, store, written } = setUp();
    const life = neverCrashing();
    start(life);
    await pass(500);
    life.kill();
    for (const _ of [1, 2, 3]) {
      const consumer = start();
      await pass(1_500);
      const stopped = consumer.stop();
      await pass(1_000);
      await stopped;
    }
    expect(written).toEqual(['2 1 0 - -']);
    expect((await store.progress('0'))?.note).toBe('2 1 0 - -');
  });

  it('that cannot be opened at first is counted when that succeeds', async () => {
    const { start, store, written } = setUp();
    const life = neverCrashing();
    start(life);
    await pass(500);
    life.kill();
    let isOut = true;
    start(undefined, { progress: (one) => (isOut ? Promise.reject(new Error('out')) : store.progress(one)) });
    await pass(1_500);
    expect(written).toEqual([]);
    isOut = false;
    await pass(500);
    expect(written).toEqual(['2 1 0 - -']);
  });

  it('that its own reader lost briefly is read again without a new count', async () => {
    const { hub, start, written } = setUp();
    start();
    await pass(500);
    const stranger = hub.client(neverCrashing());
    const handlers = { processEvents: async () => {}, processError: async () => {} };
    const taken = stranger.subscribe('0', handlers, { ownerLevel: 9, maxWaitTimeInSeconds: 1 } as never);
    await pass(200);
    await taken.close();
    await pass(1_500);
    expect(written).toEqual([]);
  });
});
