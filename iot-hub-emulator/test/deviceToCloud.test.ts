import type { ReceivedEventData } from '@azure/event-hubs';
import type device from 'azure-iot-device';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deviceClient, deviceMessage, type Listening, listenToEvents } from './support/clients.ts';
import { hubForAll } from './support/sharedHub.ts';

let client: device.Client;
let listening: Listening;
let seen = 0;

const hub = hubForAll({ devices: [{ deviceId: 'pump-1' }, { deviceId: "odd-.%_*?!(),:=@$'" }], partitions: 2 });
beforeAll(async () => {
  client = await deviceClient(hub, 'pump-1');
  await client.open();
  listening = listenToEvents(hub, { startPosition: { offset: '-1' } });
});
afterAll(async () => {
  await listening.stop();
  await client.close();
});

const arrive = async (message: device.Message): Promise<ReceivedEventData> => {
  await client.sendEvent(message);
  seen += 1;
  const event = (await listening.has(seen))[seen - 1];
  if (!event) throw new Error('No event came.');
  return event;
};

describe('a device sends and a consumer receives', () => {
  test('an empty body', async () =>
    expect((await arrive(deviceMessage(Buffer.alloc(0)))).body).toEqual(Buffer.alloc(0)));
  test('a body of 200 KB, which takes several frames', async () => {
    const body = Buffer.alloc(200 * 1024, 'abcdefg');
    expect((await arrive(deviceMessage(body))).body.equals(body)).toBe(true);
  });
  test('application properties, as text, whatever characters they have', async () => {
    const properties = { msgType: 'action', version: '2', 'ä b&=%/+': 'x&y=%41 /?+ü\r\n', empty: '' };
    expect((await arrive(deviceMessage('x', properties))).properties).toEqual(properties);
  });
  test('system properties under their AMQP names', async () => {
    const message = deviceMessage('x');
    Object.assign(message, { messageId: 'm 1', correlationId: 'c/1', userId: 'u', to: '/t' });
    Object.assign(message, { contentType: 'application/json', contentEncoding: 'utf-8' });
    const event = await arrive(message);
    expect(event).toMatchObject({ messageId: 'm 1', correlationId: 'c/1', contentType: 'application/json' });
    expect(event.systemProperties).toMatchObject({ contentEncoding: 'utf-8', to: '/t' });
    expect(event.properties).toEqual({});
  });
  test('the identity stamps that the hub sets', async () => {
    const { systemProperties, partitionKey, enqueuedTimeUtc } = await arrive(deviceMessage('x'));
    expect(systemProperties).toEqual({
      'iothub-connection-device-id': 'pump-1',
      'iothub-connection-auth-method': '{"scope":"device","type":"sas","issuer":"iothub","acceptingIpFilterRule":null}',
      'iothub-connection-auth-generation-id': hub.registry.get('pump-1')?.generationId,
      'iothub-enqueuedtime': expect.any(Number),
      'iothub-message-source': 'Telemetry',
    });
    expect(partitionKey).toBeUndefined();
    const own = Number(systemProperties?.['iothub-enqueuedtime']) - enqueuedTimeUtc.getTime();
    expect(own).toBeLessThanOrEqual(11);
    expect(own).toBeGreaterThanOrEqual(-327);
  });
  test('stamps that the device cannot forge', async () => {
    const forged = {
      'iothub-connection-device-id': 'pump-2',
      'iothub-message-source': 'twinChangeEvents',
      'iothub-connection-auth-generation-id': '1',
      'x-opt-sequence-number': '99',
      'x-opt-offset': '99',
    };
    const event = await arrive(deviceMessage('x', forged));
    expect(event.properties).toEqual(forged);
    const stamps = { 'iothub-connection-device-id': 'pump-1', 'iothub-message-source': 'Telemetry' };
    expect(event.systemProperties).toMatchObject(stamps);
    expect(event.sequenceNumber).toBe(seen - 1);
    expect(event.offset).not.toBe('99');
  });
  test('the events of one device from one partition, in order', () => {
    const entries = hub.journal.list({ kind: 'd2c', deviceId: 'pump-1' });
    expect(new Set(entries.map((entry) => entry.kind === 'd2c' && entry.partition)).size).toBe(1);
    expect(listening.events.map(({ sequenceNumber }) => sequenceNumber)).toEqual([...Array(seen).keys()]);
  });
  test('events of a device whose id has every allowed character', async () => {
    const odd = await deviceClient(hub, "odd-.%_*?!(),:=@$'");
    await odd.open();
    await odd.sendEvent(deviceMessage('x'));
    await odd.close();
    seen += 1;
    const events = await listening.has(seen);
    const ids = events.map(({ systemProperties }) => systemProperties?.['iothub-connection-device-id']);
    expect(ids).toContain("odd-.%_*?!(),:=@$'");
  });
});

test('a device that connects through a gateway name with the name of the hub is accepted', async () => {
  const text = hub.deviceConnectionString('pump-1');
  const gateway = text.replace(/HostName=([^;]+)/, 'HostName=sandbox-hub.azure-devices.net;GatewayHostName=$1');
  const accepted = await deviceClient(hub, 'pump-1', gateway);
  await accepted.open();
  await accepted.close();
});
