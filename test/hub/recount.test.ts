import { expect, it, vi } from 'vitest';
import { createConsumer } from '../../src/hub/reading/consumer.ts';
import { createLog } from '../../src/observing/log.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { budgetOf, events, limits, receivedMessageOf, usual } from '../engine/support/partitions.ts';
import { neverCrashing } from '../support/processLife.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { createFakeHub } from './support/fakeHub.ts';
import { usualReading } from './support/reading.ts';
import { standIns } from './support/standIns.ts';

vi.mock('@azure/event-hubs', async (sdk) => (await import('./support/standIns.ts')).withStandIns(await sdk<object>()));

withFakeTimers();

const minutes = (count: number) => vi.advanceTimersByTimeAsync(count * 60_000);

it('The partitions of the hub are counted every five minutes, and a failed count does not affect reading', async () => {
  const hub = createFakeHub(['0', '1']);
  const answers: (() => string[])[] = [() => ['0'], () => Promise.reject(new Error('busy')) as never, () => ['0', '1']];
  let counts = 0;
  standIns.set('address', () => ({
    ...hub.client(neverCrashing()),
    getPartitionIds: async () => answers[counts++]?.(),
  }));
  const lines: Record<string, unknown>[] = [];
  const seen: string[] = [];
  const consumer = createConsumer({
    ...usualReading,
    ...{ access: 'address', store: createMemoryStore(), roundMs: 5_000, silentMs: 20_000 },
    log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }),
    partition: (partition) => ({
      ...{ budget: budgetOf(10), backlog: usual.backlog, costOf: usual.costOf, limits, receivedMessageOf },
      async dispatch({ event }) {
        seen.push(`${partition}:${event.sequenceNumber}`);
        return true;
      },
    }),
  });
  const append = (partition: string, text: string) => {
    for (const event of events(text)) hub.append(partition, event);
  };
  consumer.start();
  append('1', 'a1');
  await minutes(4.9);
  expect(counts).toBe(1);
  await minutes(0.2);
  append('0', 'a1');
  await minutes(4.8);
  expect([counts, seen]).toEqual([2, ['0:1']]);
  const notCounted = lines.filter(({ msg }) => msg === 'cannot count the partitions of the hub; using the last count');
  expect(notCounted).toMatchObject([{ level: 'warn', err: { message: 'busy' } }]);
  await minutes(0.5);
  expect([counts, seen]).toEqual([3, ['0:1', '1:1']]);
  void consumer.stop();
  await minutes(1);
});
