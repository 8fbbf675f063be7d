import {
  type CheckpointStore,
  EventHubConsumerClient,
  EventHubProducerClient,
  type EventPosition,
  type PartitionOwnership,
  type ReceivedEventData,
} from '@azure/event-hubs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { inject } from '../src/testing/inject.ts';
import { connectedDevice, publishPacket } from './support/device.ts';
import { eventConsumer, eventProducer, listenInTest, nextReceiver } from './support/eventClients.ts';
import { hubForAll, hubForTest } from './support/sharedHub.ts';

const bodies = (listening: { events: { body: Buffer }[] }) => listening.events.map(({ body }) => body.toString());

let clock = Date.now();
let partition = '';

const devices = [{ deviceId: 'pump-1' }, { deviceId: 'pump-2' }];
const hub = hubForAll({ devices, consumerGroups: ['second'], now: () => clock });
beforeAll(async () => {
  const device = await connectedDevice(hub, 'pump-1');
  for (const body of ['e0', 'e1', 'e2', 'e3']) {
    clock += 1000;
    device.send(publishPacket('devices/pump-1/messages/events/', body));
    await device.next('puback');
  }
  device.socket.destroy();
  partition = String(hub.journal.list({ kind: 'd2c' }).map((entry) => entry.kind === 'd2c' && entry.partition)[0]);
});

const log = () => hub.partitions[Number(partition)];
const offsetOf = (sequenceNumber: number) => String(log()?.at(sequenceNumber)?.offset);
const listen = (options: Parameters<typeof listenInTest>[1]) => listenInTest(hub, { partition, ...options });

const fromEarliest = { startPosition: { offset: '-1' } };

describe('start positions', () => {
  test('include the latest, which gives only later events', async () => {
    const opened = nextReceiver(hub);
    const listening = listen({ startPosition: { offset: '@latest' } });
    await opened;
    const device = await connectedDevice(hub, 'pump-1');
    device.send(publishPacket('devices/pump-1/messages/events/', 'e4'));
    await listening.has(1);
    device.socket.destroy();
    expect(bodies(listening)).toEqual(['e4']);
  });
  test.each<[string, () => EventPosition, string[]]>([
    ['an offset: later events', () => ({ offset: offsetOf(1) }), ['e2', 'e3', 'e4']],
    ['an inclusive offset: its event as well', () => ({ offset: offsetOf(3), isInclusive: true }), ['e3', 'e4']],
    ['a sequence number: later events', () => ({ sequenceNumber: 2 }), ['e3', 'e4']],
    ['an inclusive number: its event as well', () => ({ sequenceNumber: 2, isInclusive: true }), ['e2', 'e3', 'e4']],
    ['an enqueued time: later events', () => ({ enqueuedOn: log()?.at(2)?.enqueuedTime ?? 0 }), ['e3', 'e4']],
  ])('include %s', async (_, startPosition, expected) => {
    const listening = listen({ startPosition: startPosition() });
    await listening.has(expected.length);
    expect(bodies(listening)).toEqual(expected);
  });
});

describe('management', () => {
  test('answers not-found for an unknown event hub', async () => {
    const refused = { code: 'MessagingEntityNotFoundError' };
    const other = hub.eventsConnectionString.replace('EntityPath=sandbox-hub', 'EntityPath=other');
    await expect(eventConsumer(hub, other).getEventHubProperties()).rejects.toMatchObject(refused);
  });
});

describe('owner levels', () => {
  test('free a partition when its owner leaves', async () => {
    const first = listen({ ...fromEarliest, ownerLevel: 5 });
    await first.has(1);
    await first.stop();
    const second = listen({ ...fromEarliest, ownerLevel: 1 });
    await second.has(1);
    expect(second.errors).toEqual([]);
  });
});

describe('refusals', () => {
  test('a policy without the right to listen is refused', async () => {
    const listening = listen({ ...fromEarliest, connectionString: hub.eventHubConnectionString('device') });
    expect(await listening.failed()).toMatchObject({ code: 'UnauthorizedError' });
    expect(listening.events).toEqual([]);
  });
});

describe('what is refused', () => {
  // What the official event client is told when the event endpoint refuses it.

  const earliest = { offset: '-1' };
  const signed = / TrackingId:[0-9a-f]{32}_G\d+, SystemTracker:gateway\d+, Timestamp:[-0-9T:]{19}$/;

  const hub = hubForAll({ partitions: 2, consumerGroups: ['shared'], ownerMaySend: true });
  beforeAll(async () => void (await inject(hub, ['e0', 'e1', 'e2'])));

  const listen = (options: Partial<Parameters<typeof listenInTest>[1]> = {}) =>
    listenInTest(hub, { partition: '0', startPosition: earliest, ...options });
  /** Code and text of the refusal, without the part that differs each time. */
  async function refusal(listening: ReturnType<typeof listen>) {
    const { code, message } = await listening.failed();
    expect(message).toMatch(signed);
    return { code, text: message.replace(signed, '') };
  }
  const lastOffset = () => hub.partitions[0]?.last()?.offset ?? 0;

  describe('a start position', () => {
    test('beyond the last offset is refused with the last offset', async () =>
      expect(await refusal(listen({ startPosition: { offset: '999999' } }))).toEqual({
        code: 'ArgumentError',
        text: `The supplied offset '999999' is invalid. The last offset in the system is '${lastOffset()}'`,
      }));
    test('in an empty partition is refused', async () =>
      expect(await refusal(listen({ partition: '1', startPosition: { offset: '7' } }))).toEqual({
        code: 'ArgumentError',
        text: "The supplied offset '7' is invalid. The last offset in the system is '-1'",
      }));
    test('at the last event is accepted', async () => {
      const listening = listen({ startPosition: { offset: String(lastOffset()) } });
      await expect.poll(() => hub.counters().receivers.length).toBe(1);
      await inject(hub, ['e3']);
      expect((await listening.has(1)).map(({ body }) => body.toString())).toEqual(['e3']);
    });
  });

  describe('an unknown partition', () => {
    const text =
      'The specified partition is invalid for an EventHub partition sender or receiver. It should be between 0 and 1.\nParameter name: PartitionId';

    test('is refused to a producer, and to a request for its properties', async () => {
      const refused = { code: 'ArgumentOutOfRangeError', message: expect.stringContaining(text) };
      await expect(eventProducer(hub).sendBatch([{ body: 'x' }], { partitionId: '2' })).rejects.toMatchObject(refused);
      await expect(eventConsumer(hub).getPartitionProperties('2')).rejects.toMatchObject(refused);
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
});

describe('clients that share the work', () => {
  // Official event clients that share the work by way of a checkpoint store, and consumer groups.

  let producer: EventHubProducerClient;
  const hub = hubForAll({ partitions: 4, consumerGroups: ['second', 'third'], ownerMaySend: true });
  beforeAll(() => (producer = new EventHubProducerClient(hub.eventHubConnectionString('iothubowner'))));
  afterAll(() => producer.close());

  /** Keeps ownerships with etags, as the store in blobs does, and checkpoints. */
  function memoryStore(): CheckpointStore {
    const ownerships = new Map<string, PartitionOwnership>();
    const checkpoints = new Map<string, Parameters<CheckpointStore['updateCheckpoint']>[0]>();
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
      async updateCheckpoint(checkpoint) {
        checkpoints.set(checkpoint.partitionId, checkpoint);
      },
      listCheckpoints: async () => [...checkpoints.values()],
    };
  }

  const expiring = { partitionOwnershipExpirationIntervalInMs: 5000 };
  const consume = (store: CheckpointStore, group = '$Default') => {
    const client = new EventHubConsumerClient(group, hub.eventsConnectionString, store, {
      loadBalancingOptions: { strategy: 'greedy', updateIntervalInMs: 100, ...expiring },
      retryOptions: { maxRetries: 0, retryDelayInMs: 50 },
    });
    const events: ReceivedEventData[] = [];
    const owned = new Set<string>();
    const subscription = client.subscribe(
      {
        processInitialize: async ({ partitionId }) => void owned.add(partitionId),
        processClose: async (_, { partitionId }) => void owned.delete(partitionId),
        processEvents: async (batch, context) => {
          events.push(...batch);
          const last = batch.at(-1);
          if (last) await context.updateCheckpoint(last);
        },
        processError: async () => undefined,
      },
      { startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
    );
    const stop = async () => {
      await subscription.close();
      await client.close();
    };
    onTestFinished(stop);
    return { events, owned, stop };
  };
  const bodies = ({ events }: { events: ReceivedEventData[] }) => events.map(({ body }) => body.toString());
  const sendToAll = async (text: string) => {
    for (const partitionId of ['0', '1', '2', '3']) await producer.sendBatch([{ body: text }], { partitionId });
  };

  describe('two consumers with one store', () => {
    test('get two partitions each, and lose no event', async () => {
      const store = memoryStore();
      const first = consume(store);
      await expect.poll(() => first.owned.size).toBe(4);
      const second = consume(store);
      await expect.poll(() => [first.owned.size, second.owned.size]).toEqual([2, 2]);
      expect(new Set([...first.owned, ...second.owned]).size).toBe(4);
      await sendToAll('shared');
      await expect
        .poll(() => [first, second].flatMap(bodies).filter((body) => body === '"shared"').length)
        .toBeGreaterThanOrEqual(4);
      expect(bodies(first)).toContain('"shared"');
      expect(bodies(second)).toContain('"shared"');
    });
  });
  test('each consumer group gets every event', async () => {
    await producer.sendBatch([{ body: 'for all' }], { partitionId: '0' });
    const groups = ['$Default', 'third', 'THIRD'].map((group) =>
      listenInTest(hub, { startPosition: { offset: '-1' }, partition: '0', group }),
    );
    for (const listening of groups) {
      const count = hub.partitions[0]?.next() ?? 0;
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
      for (let i = 0; i < 5; i++) await producer.sendBatch([{ body: 'keyed' }], { partitionKey: 'pump-7' });
      const counts = placed('keyed');
      expect(counts.filter((count) => count > 0)).toEqual([5]);
      const partition = String(counts.indexOf(5));
      const listening = listenInTest(hub, { startPosition: { offset: '-1' }, partition });
      const events = await listening.has(hub.partitions[counts.indexOf(5)]?.next() ?? 0);
      expect(events.at(-1)?.partitionKey).toBe('pump-7');
    });
    test('without a partition key sends to every partition', async () => {
      for (let i = 0; i < 8; i++) await producer.sendBatch([{ body: 'anywhere' }]);
      expect(placed('anywhere')).toEqual([2, 2, 2, 2]);
    });
  });
});

describe('a producer of the owner', () => {
  // The official producer of events, which no policy of an IoT hub lets send.

  const hub = hubForAll({ ownerMaySend: true });

  test('only the owner may send where the hub allows it', async () => {
    await eventProducer(hub).sendBatch([{ body: 1 }], { partitionId: '3' });
    const sending = eventProducer(hub, 'service').sendBatch([{ body: 1 }]);
    await expect(sending).rejects.toMatchObject({ code: 'UnauthorizedError' });
  });
  test('a batch is appended to its partition event by event, without identity stamps', async () => {
    const sender = eventProducer(hub);
    const batch = await sender.createBatch({ partitionId: '1' });
    batch.tryAdd({ body: { n: 1 }, properties: { kind: 'made' } });
    const messageAnnotations = { 'iothub-connection-device-id': 'pump-1' };
    batch.tryAdd({ body: { n: 2 }, bodyType: 'data', messageAnnotations } as never);
    await sender.sendBatch(batch);
    const listening = listenInTest(hub, { startPosition: { offset: '-1' }, partition: '1' });
    const [first, second] = await listening.has(2);
    expect(listening.events.map(({ body }) => body.toString())).toEqual(['{"n":1}', '{"n":2}']);
    expect(first?.properties).toEqual({ kind: 'made' });
    expect(second?.systemProperties?.['iothub-connection-device-id']).toBeUndefined();
  });
});
