import type { EventPosition } from '@azure/event-hubs';
import { beforeAll, describe, expect, test } from 'vitest';
import { connectedDevice, publishPacket } from './support/device.ts';
import { eventConsumer, listenInTest, nextReceiver } from './support/eventClients.ts';
import { hubForAll } from './support/sharedHub.ts';

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
  test('include the earliest, which gives every event, in order, with its sequence number', async () => {
    const listening = listen(fromEarliest);
    const events = await listening.has(4);
    expect(bodies(listening)).toEqual(['e0', 'e1', 'e2', 'e3']);
    expect(events.map(({ sequenceNumber }) => sequenceNumber)).toEqual([0, 1, 2, 3]);
  });
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
  test('describes the event hub and its partitions', async () => {
    const properties = await eventConsumer(hub).getEventHubProperties();
    expect(properties).toMatchObject({ name: 'sandbox-hub', partitionIds: ['0', '1', '2', '3'] });
  });
  test('describes a partition with its first and last sequence numbers', async () => {
    const last = log()?.last();
    expect(await eventConsumer(hub).getPartitionProperties(partition)).toMatchObject({
      eventHubName: 'sandbox-hub',
      partitionId: partition,
      beginningSequenceNumber: 0,
      lastEnqueuedSequenceNumber: last?.sequenceNumber,
      lastEnqueuedOffset: String(last?.offset),
      lastEnqueuedOnUtc: new Date(last?.enqueuedTime ?? 0),
      isEmpty: false,
    });
  });
  test('answers not-found for an unknown event hub', async () => {
    const refused = { code: 'MessagingEntityNotFoundError' };
    const other = hub.eventsConnectionString.replace('EntityPath=sandbox-hub', 'EntityPath=other');
    await expect(eventConsumer(hub, other).getEventHubProperties()).rejects.toMatchObject(refused);
  });
  test('adds runtime metrics to each event on request', async () => {
    const seen: unknown[] = [];
    const consumer = eventConsumer(hub);
    const subscription = consumer.subscribe(
      partition,
      {
        processEvents: async (events, { lastEnqueuedEventProperties }) => {
          if (events.length > 0) seen.push(lastEnqueuedEventProperties);
        },
        processError: async () => undefined,
      },
      { ...fromEarliest, trackLastEnqueuedEventProperties: true, maxBatchSize: 1, maxWaitTimeInSeconds: 1 },
    );
    await expect.poll(() => seen.length).toBeGreaterThan(0);
    await subscription.close();
    const last = log()?.last();
    expect(seen[0]).toMatchObject({
      sequenceNumber: last?.sequenceNumber,
      offset: String(last?.offset),
      enqueuedOn: new Date(last?.enqueuedTime ?? 0),
    });
  });
});

describe('owner levels', () => {
  test('are separate for each consumer group', async () => {
    const first = listen({ ...fromEarliest, ownerLevel: 2 });
    const second = listen({ ...fromEarliest, ownerLevel: 1, group: 'second' });
    await Promise.all([first.has(1), second.has(1)]);
    expect([...first.errors, ...second.errors]).toEqual([]);
  });
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
  const keyed = (key: string) => hub.eventsConnectionString.replace(/SharedAccessKey=[^;]*/, `SharedAccessKey=${key}`);
  test.each([
    ['a wrong key', () => keyed('d3Jvbmc=')],
    ['a policy without the right to listen', () => hub.eventHubConnectionString('device')],
  ])('%s is refused', async (_, connectionString) => {
    const listening = listen({ ...fromEarliest, connectionString: connectionString() });
    expect(await listening.failed()).toMatchObject({ code: 'UnauthorizedError' });
    expect(listening.events).toEqual([]);
  });
});
