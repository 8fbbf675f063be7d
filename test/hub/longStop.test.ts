import { expect, it, vi } from 'vitest';
import { type Consumer, createConsumer } from '../../src/hub/reading/consumer.ts';
import { createMemoryStore } from '../../src/hub/stores/memoryStore.ts';
import { hubEvent } from '../support/events.ts';
import { neverCrashing } from '../support/processLife.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { createFakeHub } from './support/fakeHub.ts';
import { usualOpened, usualReading } from './support/reading.ts';
import { standIns } from './support/standIns.ts';

vi.mock('@azure/event-hubs', async (original) =>
  (await import('./support/standIns.ts')).withStandIns(await original<object>()),
);

withFakeTimers();

it('a stop that takes longer than the ownership expiry keeps its partitions until it releases them, and no finished message is repeated', async () => {
  const hub = createFakeHub(['0']);
  const store = createMemoryStore();
  const handled: string[] = [];
  const enter = (name: string): Consumer => {
    standIns.set(name, () => hub.client(neverCrashing()));
    const consumer = createConsumer({
      ...usualReading,
      access: name,
      drainMs: 60_000,
      roundMs: 5_000,
      silentMs: 20_000,
      balance: { expiryMs: 30_000, forceMs: 75_000 },
      store,
      partition: () => ({
        ...usualOpened(10),
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
