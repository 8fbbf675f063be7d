import {
  type CheckpointStore,
  EventHubConsumerClient,
  type EventPosition,
  type PartitionOwnership,
} from '@azure/event-hubs';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { inject } from '../src/testing/inject.ts';
import { eventConsumer, eventProducer, listenInTest } from './support/eventClients.ts';
import { hubForAll, hubForTest } from './support/sharedHub.ts';

const earliest = { offset: '-1' };
const bodiesOf = (events: readonly { body: Buffer }[]) => events.map(({ body }) => body.toString());

describe('a receiver', () => {
  let clock = Date.now();
  const hub = hubForAll({ partitions: 2, ownerMaySend: true, now: () => clock });
  beforeAll(async () => {
    for (const body of ['e0', 'e1', 'e2', 'e3']) {
      clock += 1000;
      await inject(hub, [body]);
    }
  });
  const at = (sequenceNumber: number) => hub.partitions[0]?.at(sequenceNumber);
  const offsetOf = (sequenceNumber: number) => String(at(sequenceNumber)?.offset);
  const lastOffset = () => String(hub.partitions[0]?.last()?.offset);
  const listen = (options: Partial<Parameters<typeof listenInTest>[1]> = {}) =>
    listenInTest(hub, { partition: '0', startPosition: earliest, ...options });

  test.each<[string, () => EventPosition, string[]]>([
    ['an offset: later events', () => ({ offset: offsetOf(1) }), ['e2', 'e3']],
    ['an inclusive offset: its event as well', () => ({ offset: offsetOf(3), isInclusive: true }), ['e3']],
    ['a sequence number: later events', () => ({ sequenceNumber: 2 }), ['e3']],
    ['an inclusive number: its event as well', () => ({ sequenceNumber: 2, isInclusive: true }), ['e2', 'e3']],
    ['an enqueued time: later events', () => ({ enqueuedOn: at(2)?.enqueuedTime ?? 0 }), ['e3']],
  ])('starts at %s', async (_, startPosition, expected) => {
    const listening = listen({ startPosition: startPosition() });
    expect(bodiesOf(await listening.has(expected.length))).toEqual(expected);
  });
  test.each([
    ['the latest event', () => '@latest'],
    ['the offset of the last event', lastOffset],
  ])('that starts at %s gets only later events', async (_, offset) => {
    const opened = hub.journal.next({ kind: 'receiver-opened', since: hub.journal.last });
    const listening = listen({ startPosition: { offset: offset() } });
    await opened;
    await inject(hub, ['later']);
    expect(bodiesOf(await listening.has(1))).toEqual(['later']);
  });
  test.each([
    ['beyond the last offset', '0', '999999', lastOffset],
    ['in an empty partition', '1', '7', () => '-1'],
  ])('that starts %s is refused with the last offset', async (_, partition, offset, last) => {
    const { code, message } = await listen({ partition, startPosition: { offset } }).failed();
    const signed = / TrackingId:[0-9a-f]{32}_G\d+, SystemTracker:gateway\d+, Timestamp:[-0-9T:]{19}$/;
    expect(message).toMatch(signed);
    expect([code, message.replace(signed, '')]).toEqual([
      'ArgumentError',
      `The supplied offset '${offset}' is invalid. The last offset in the system is '${last()}'`,
    ]);
  });
  test('with an owner level frees its partition when it leaves', async () => {
    const first = listen({ ownerLevel: 5 });
    await first.has(1);
    await first.stop();
    const second = listen({ ownerLevel: 1 });
    await second.has(1);
    expect(second.errors).toEqual([]);
  });
  test('of a policy without the right to listen is refused', async () => {
    const listening = listen({ connectionString: hub.eventHubConnectionString('device') });
    expect(await listening.failed()).toMatchObject({ code: 'UnauthorizedError' });
    expect(listening.events).toEqual([]);
  });

  test('management answers not-found for an unknown event hub', async () => {
    const refused = { code: 'MessagingEntityNotFoundError' };
    const other = hub.eventsConnectionString.replace('EntityPath=sandbox-hub', 'EntityPath=other');
    await expect(eventConsumer(hub, other).getEventHubProperties()).rejects.toMatchObject(refused);
  });
  test('an unknown partition is refused to a producer', async () => {
    const text =
      'The specified partition is invalid for an EventHub partition sender or receiver. It should be between 0 and 1.\nParameter name: PartitionId';
    const refused = { code: 'ArgumentOutOfRangeError', message: expect.stringContaining(text) };
    await expect(eventProducer(hub).sendBatch([{ body: 'x' }], { partitionId: '2' })).rejects.toMatchObject(refused);
  });
});

test('a key that is renewed is refused at the next management request, while open links still get events', async () => {
  const renewed = await hubForTest({ partitions: 1 });
  const listening = listenInTest(renewed, { partition: '0', startPosition: earliest });
  const client = eventConsumer(renewed);
  expect(await client.getPartitionIds()).toEqual(['0']);
  await inject(renewed, ['before']);
  await listening.has(1);
  await renewed.renewKey('events');
  await expect(client.getPartitionIds()).rejects.toMatchObject({ code: 'UnauthorizedError' });
  await inject(renewed, ['after']);
  await listening.has(2);
  expect(listening.errors).toEqual([]);
});

const hub = hubForAll({ partitions: 4, consumerGroups: ['third'], ownerMaySend: true });

/** Keeps ownerships with etags, as the store in blobs does, and no checkpoints. */
function memoryStore(): CheckpointStore {
  const ownerships = new Map<string, PartitionOwnership>();
  let version = 0;
  return {
    listOwnership: async () => [...ownerships.values()],
    async claimOwnership(claims) {
      const granted = claims.filter(({ partitionId, etag }) => ownerships.get(partitionId)?.etag === etag);
      return granted.map((claim) => {
        version += 1;
        const owned = { ...claim, etag: String(version), lastModifiedTimeInMs: Date.now() };
        ownerships.set(claim.partitionId, owned);
        return owned;
      });
    },
    updateCheckpoint: async () => undefined,
    listCheckpoints: async () => [],
  };
}

test('two official consumers with one store get two partitions each, and lose no event', async () => {
  const store = memoryStore();
  const expiring = { partitionOwnershipExpirationIntervalInMs: 5000 };
  const consume = () => {
    const client = new EventHubConsumerClient('$Default', hub.eventsConnectionString, store, {
      loadBalancingOptions: { strategy: 'greedy', updateIntervalInMs: 100, ...expiring },
      retryOptions: { maxRetries: 0, retryDelayInMs: 50 },
    });
    const bodies: string[] = [];
    const owned = new Set<string>();
    const subscription = client.subscribe(
      {
        processInitialize: async ({ partitionId }) => void owned.add(partitionId),
        processClose: async (_, { partitionId }) => void owned.delete(partitionId),
        processEvents: async (batch) => void bodies.push(...bodiesOf(batch)),
        processError: async () => undefined,
      },
      { startPosition: earliest, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
    );
    onTestFinished(async () => {
      await subscription.close();
      await client.close();
    });
    return { bodies, owned };
  };
  const first = consume();
  await expect.poll(() => first.owned.size).toBe(4);
  const second = consume();
  await expect.poll(() => [first.owned.size, second.owned.size]).toEqual([2, 2]);
  expect(new Set([...first.owned, ...second.owned]).size).toBe(4);
  const producer = eventProducer(hub);
  for (const partitionId of ['0', '1', '2', '3']) await producer.sendBatch([{ body: partitionId }], { partitionId });
  await expect.poll(() => new Set([...first.bodies, ...second.bodies]).size).toBe(4);
  for (const { bodies } of [first, second]) expect(bodies).not.toEqual([]);
});

test('each consumer group gets every event', async () => {
  await eventProducer(hub).sendBatch([{ body: 'for all' }], { partitionId: '0' });
  const count = hub.partitions[0]?.next() ?? 0;
  for (const group of ['$Default', 'third', 'THIRD']) {
    const listening = listenInTest(hub, { startPosition: earliest, partition: '0', group });
    expect(await listening.has(count)).toHaveLength(count);
  }
});

describe('a producer', () => {
  const placed = (text: string) =>
    hub.partitions.map((log) => {
      const found = Array.from({ length: log.next() }, (_, i) => log.at(i)?.bytes.toString('latin1') ?? '');
      return found.filter((bytes) => bytes.includes(text)).length;
    });

  test('with a partition key always sends to the same partition, and the events have the key', async () => {
    const producer = eventProducer(hub);
    for (let i = 0; i < 5; i++) await producer.sendBatch([{ body: 'keyed' }], { partitionKey: 'pump-7' });
    const counts = placed('keyed');
    expect(counts.filter((count) => count > 0)).toEqual([5]);
    const listening = listenInTest(hub, { startPosition: earliest, partition: String(counts.indexOf(5)) });
    const events = await listening.has(hub.partitions[counts.indexOf(5)]?.next() ?? 0);
    expect(events.at(-1)?.partitionKey).toBe('pump-7');
  });
  test('without a partition key sends to every partition', async () => {
    const producer = eventProducer(hub);
    for (let i = 0; i < 8; i++) await producer.sendBatch([{ body: 'anywhere' }]);
    expect(placed('anywhere')).toEqual([2, 2, 2, 2]);
  });
  test('is the owner, where the hub allows it, and nobody else', async () => {
    const sending = eventProducer(hub, 'service').sendBatch([{ body: 1 }]);
    await expect(sending).rejects.toMatchObject({ code: 'UnauthorizedError' });
  });
  test('has its batch appended to its partition event by event, without identity stamps', async () => {
    const sequenceNumber = hub.partitions[1]?.next() ?? 0;
    const sender = eventProducer(hub);
    const batch = await sender.createBatch({ partitionId: '1' });
    batch.tryAdd({ body: { n: 1 }, properties: { kind: 'made' } });
    const messageAnnotations = { 'iothub-connection-device-id': 'pump-1' };
    batch.tryAdd({ body: { n: 2 }, bodyType: 'data', messageAnnotations } as never);
    await sender.sendBatch(batch);
    const listening = listenInTest(hub, {
      startPosition: { sequenceNumber, isInclusive: true },
      partition: '1',
    });
    const [first, second] = await listening.has(2);
    expect(bodiesOf(listening.events)).toEqual(['{"n":1}', '{"n":2}']);
    expect(first?.properties).toEqual({ kind: 'made' });
    expect(second?.systemProperties?.['iothub-connection-device-id']).toBeUndefined();
  });
});
