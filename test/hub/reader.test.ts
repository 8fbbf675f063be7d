import { EventHubConsumerClient, type SubscriptionEventHandlers } from '@azure/event-hubs';
import { startHub } from 'iot-hub-emulator';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Partition } from '../../src/engine/partition.ts';
import { createPartitionReader } from '../../src/hub/reading/assignment.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createLog } from '../../src/observing/log.ts';
import { signal, soon } from '../support/waiting.ts';

cureHubSdks();

/** Nobody listens there: the client subscribes, and goes on trying. */
const nowhere =
  'Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=a;SharedAccessKey=Yg==;EntityPath=hub;UseDevelopmentEmulator=true';

const partition: Pick<Partition, 'admit' | 'position'> = { admit: async () => {}, position: () => undefined };

const reading = {
  record: { partition: '0', epoch: 1 },
  partition,
  batchSize: 1,
  prefetch: 1,
  maxWaitSeconds: 1,
  lost: () => {},
  failed: () => {},
  heard: () => {},
  log: createLog('silent'),
} as const;

/** A reader over a client that has the test give events and errors to each subscription. */
function byHand(admit = async () => {}, subscribe = (_handlers: SubscriptionEventHandlers) => {}) {
  const subscriptions: SubscriptionEventHandlers[] = [];
  const told: string[] = [];
  const client = {
    subscribe(_partition: string, handlers: SubscriptionEventHandlers) {
      subscriptions.push(handlers);
      subscribe(handlers);
      return { isRunning: true, close: async () => {} };
    },
  } as unknown as EventHubConsumerClient;
  const reader = createPartitionReader(client, {
    ...{ ...reading, partition: { ...partition, admit } },
    ...{ lost: () => told.push('lost'), failed: () => told.push('failed') },
  });
  return { client, reader, subscriptions, told };
}

it('a reader subscribes again with the same client until it succeeds', async () => {
  const client = new EventHubConsumerClient('$Default', nowhere);
  const reader = createPartitionReader(client, reading);
  expect(() => reader.restart(client)).not.toThrow();
  expect(() => reader.restart(client)).not.toThrow();
  await reader.close();
  await client.close();
});

it('a reader takes no more events while others wait for room, however often it subscribes again', async () => {
  let [taken, subscribed] = [0, 0];
  const { given: room, give: makeRoom } = signal();
  const admit = () => {
    taken += 1;
    return room;
  };
  const { client, reader } = byHand(admit, (handlers) => {
    subscribed += 1;
    setImmediate(() => void handlers.processEvents([], undefined as never)); // a batch at once
  });
  for (let index = 0; index < 100; index += 1) {
    await new Promise(setImmediate);
    reader.restart(client);
  }
  expect([taken, subscribed]).toEqual([1, 1]);
  makeRoom();
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  expect([taken, subscribed]).toEqual([2, 2]);
  await reader.close();
});

describe('a reader', () => {
  it('that was closed subscribes no more, whether it is told to before or after', async () => {
    const { given: room, give: makeRoom } = signal();
    const { client, reader, subscriptions } = byHand(() => room);
    void subscriptions[0]?.processEvents([], undefined as never);
    reader.restart(client); // it waits until the events are taken in
    await reader.close();
    reader.restart(client);
    makeRoom();
    await new Promise(setImmediate);
    expect(subscriptions).toHaveLength(1);
  });

  it.each(['ReceiverDisconnectedError', 'ServiceCommunicationError'])('that was closed reports no %s', async (code) => {
    const { reader, subscriptions, told } = byHand();
    const closing = reader.close();
    const error = Object.assign(new Error('too late'), { code });
    await subscriptions[0]?.processError(error, undefined as never);
    await closing;
    await subscriptions[0]?.processError(error, undefined as never);
    expect(told).toEqual([]);
  });

  it('of which the subscription was replaced reports the errors of the new one alone', async () => {
    const { client, reader, subscriptions, told } = byHand();
    reader.restart(client);
    const error = Object.assign(new Error('gone'), { code: 'ReceiverDisconnectedError' });
    await subscriptions[0]?.processError(error, undefined as never);
    expect(told).toEqual([]);
    await subscriptions[1]?.processError(error, undefined as never);
    expect(told).toEqual(['lost']);
    await reader.close();
  });
});

it.each([
  ['comes later', [1, 2], 0],
  ['is there already', [2, 1], 1],
])(
  'a reader learns from the hub that it lost the partition to a reader with a higher epoch that %s',
  async (_, epochs, loser) => {
    const hub = await startHub({ partitions: 1 });
    const clients = epochs.map(() => new EventHubConsumerClient('$Default', hub.eventsConnectionString));
    const readers: ReturnType<typeof createPartitionReader>[] = [];
    onTestFinished(async () => {
      for (const one of [...readers, ...clients]) await one.close();
      await hub.close();
    });
    const lost: number[] = [];
    for (const [index, client] of clients.entries()) {
      const epoch = epochs[index] ?? 0;
      const reader = createPartitionReader(client, {
        ...reading,
        record: { partition: '0', epoch },
        lost: () => lost.push(index),
      });
      readers.push(reader);
      if (index === 0) await vi.waitFor(() => expect(reader.isHeard()).toBe(true), soon);
    }
    await vi.waitFor(() => expect(new Set(lost)).toEqual(new Set([loser])), soon);
  },
);

/** At second 100, a reader that began at 0 and had its last signs in these seconds, later than any other sign at 0. */
it.each([
  ['nothing but its beginning', {}, [100, 100, 100, 100, 100]],
  ['a new subscription: it may deliver yet, but nothing has answered', { subscribed: 90 }, [10, 100, 100, 10, 100]],
  ['a report without events', { heard: 90 }, [10, 10, 10, 100, 100]],
  ['events', { heard: 90, event: 90 }, [10, 10, 10, 10, 10]],
  ['a refusal: an answer, but nothing is delivered', { refused: 90 }, [100, 100, 10, 100, 100]],
  ['a report, then a new subscription', { heard: 60, event: 60, subscribed: 90 }, [10, 40, 40, 10, 40]],
  ['a refusal, then a report', { refused: 60, heard: 90 }, [10, 10, 10, 100, 100]],
])(
  'A reader has been quiet since %s',
  async (_, signs: Partial<Record<'subscribed' | 'heard' | 'refused' | 'event', number>>, expected) => {
    vi.useFakeTimers();
    const { client, reader, subscriptions } = byHand();
    const refusal = Object.assign(new Error('no'), { code: 'UnauthorizedError' });
    const gives = {
      subscribed: () => reader.restart(client),
      heard: () => subscriptions.at(-1)?.processEvents([], undefined as never),
      refused: () => subscriptions.at(-1)?.processError(refusal, undefined as never),
      event: () => subscriptions.at(-1)?.processEvents([{} as never], undefined as never),
    };
    await gives.event();
    for (let second = 1; second <= 100; second += 1) {
      await vi.advanceTimersByTimeAsync(1_000);
      for (const [sign, at] of Object.entries(signs)) if (at === second) await gives[sign as keyof typeof gives]();
    }
    const counting = [
      ['subscribed', 'heard'],
      ['heard'],
      ['heard', 'refused'],
      ['subscribed', 'event'],
      ['event'],
    ] as const;
    expect(counting.map((some) => reader.quietMs(...some) / 1_000)).toEqual(expected);
    await reader.close();
  },
);
