import { once } from 'node:events';
import { EventHubProducerClient } from '@azure/event-hubs';
import amqp from 'azure-iot-device-amqp';
import rhea, { type EventContext, type Sender } from 'rhea';
import { expect, onTestFinished, test } from 'vitest';
import { bareConnection, ended, nextOutcome, outcomeOf, putDeviceToken, putToken } from './support/bare.ts';
import { deviceClient, deviceMessage, nameOfError } from './support/clients.ts';
import { hubForTest } from './support/sharedHub.ts';

// Messages that are larger than the size that the hub announces for each link.

const devices = [{ deviceId: 'pump-1' }];
const start = (options: Parameters<typeof hubForTest>[0] = {}) =>
  hubForTest({ devices, partitions: 1, ownerMaySend: true, ...options });
const message = (bytes: number) => ({ body: rhea.message.data_section(Buffer.alloc(bytes)) });
const tooLarge =
  /The received message \(delivery-id:\d+, size:\d+ bytes\) exceeds the limit \(1048576 bytes\) currently allowed on the link\./;

test('the official producer learns that an event is too large, and keeps its link', async () => {
  const hub = await start();
  const producer = new EventHubProducerClient(hub.eventHubConnectionString('iothubowner'), {
    retryOptions: { maxRetries: 0, timeoutInMs: 60_000 },
  });
  onTestFinished(() => producer.close());
  await producer.sendBatch([{ body: 'before' }]);
  const links = () => ({ links: hub.counters().links, connections: hub.counters().connections.events });
  const before = links();
  await expect(producer.sendBatch([{ body: 'Z'.repeat(1_300_000) }])).rejects.toMatchObject({
    code: 'MessageTooLargeError',
    message: expect.stringMatching(tooLarge),
  });
  await producer.sendBatch([{ body: 'after' }]);
  expect(links()).toEqual(before);
  expect(hub.counters().appended).toBe(2);
});

test('the official device client loses its link by a message over the link’s limit, and can send again', async () => {
  const hub = await start();
  const device = await deviceClient(hub, 'pump-1', hub.deviceConnectionString('pump-1'), amqp.Amqp);
  onTestFinished(() => device.close().then(() => undefined));
  await expect(device.sendEvent(deviceMessage(Buffer.alloc(1_300_000)))).rejects.toThrow();
  // until it hears that its link has ended, what it sends there is lost
  await expect.poll(() => nameOfError(device.sendEvent(deviceMessage('after')))).toBe('none');
  expect(hub.journal.list({ kind: 'd2c' })).toMatchObject([{ body: Buffer.from('after') }]);
});

test('a device gets the refusal of a too large message before the message is complete, and none of it is kept', async () => {
  const hub = await start();
  const connection = await bareConnection(hub);
  await putDeviceToken(hub, connection, 'pump-1');
  const sender = connection.open_sender('/devices/pump-1/messages/events');
  await once(sender, 'sendable');
  const [outcome, link] = [nextOutcome(sender), ended(sender)];
  sender.send(message(8 * 1024 * 1024));
  expect([await outcome, await link]).toEqual(Array(2).fill('amqp:link:message-size-exceeded'));
  const again = connection.open_sender({ target: '/devices/pump-1/messages/events', name: 'again' });
  expect(await outcomeOf(again, message(10))).toBe('accepted');
  expect(hub.counters().appended).toBe(1);
});

test('too large messages cost a producer no credit', async () => {
  const hub = await start({ rules: { bounds: { message: 70_000 } } });
  const connection = await bareConnection(hub);
  await putToken(hub, connection, 'events', 'iothubowner');
  const sender = connection.open_sender({ target: hub.name, autosettle: true });
  await once(sender, 'sendable');
  const outcomes: string[] = [];
  const count = (sending: Sender) =>
    new Promise<void>((resolve) => {
      for (const outcome of ['accepted', 'rejected'])
        sending.on(outcome, (_: EventContext) => {
          outcomes.push(outcome);
          if (outcomes.length === 1200) resolve();
          else if (sending.sendable()) sending.send(outcomes.length % 100 === 0 ? message(69_000) : message(70_001));
        });
    });
  const all = count(sender);
  sender.send(message(70_001));
  await all;
  expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(11);
  expect(hub.counters().appended).toBe(11);
});
