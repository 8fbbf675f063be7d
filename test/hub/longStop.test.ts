import { tmpdir } from 'node:os';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createBudget } from '../../src/hub/partition/budget.ts';
import { openSpool } from '../../src/hub/partition/spool.ts';
import { type Consumer, createConsumer } from '../../src/hub/reading/consumer.ts';
import { createMemoryStore } from '../../src/hub/stores/memoryStore.ts';
import { createLog } from '../../src/log/log.ts';
import { bodyBytes, hubEvent } from '../support/events.ts';
import { mortal } from '../support/mortal.ts';
import { createFakeHub } from './support/fakeHub.ts';
import { standIns } from './support/standIns.ts';

vi.mock('@azure/event-hubs', async (original) =>
  (await import('./support/standIns.ts')).withStandIns(await original<object>()),
);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a stop that takes longer than ownership lasts keeps its partitions until it gives them back, and nothing finished is repeated', async () => {
  const hub = createFakeHub(['0']);
  const store = createMemoryStore();
  const handled: string[] = [];
  const enter = (name: string): Consumer => {
    standIns.set(name, () => hub.client(mortal(Number.POSITIVE_INFINITY)));
    const consumer = createConsumer({
      connectionString: name,
      consumerGroup: '$Default',
      startPosition: 'earliest',
      batchSize: 10,
      prefetch: 50,
      maxWaitSeconds: 1,
      drainMs: 60_000,
      roundMs: 5_000,
      answerMs: 20_000,
      silentMs: 20_000,
      balance: { expiryMs: 30_000, forceMs: 75_000 },
      store,
      log: createLog('silent'),
      partition: () => ({
        budget: createBudget({ maxMessages: 10, maxBytes: 1e6 }),
        spool: openSpool(tmpdir(), `spool-${process.pid}-${Math.random()}`, { maxBytes: 1e6, maxMessages: 1e3 }),
        costOf: bodyBytes,
        arrivalOf: (event) => ({ event, deviceId: String(event.sequenceNumber) }),
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
