import { readFileSync } from 'node:fs';
import mqtt from 'mqtt';
import { expect, test } from 'vitest';
import { connectPacket } from './support/device.ts';
import { listenInTest } from './support/eventClients.ts';
import { hubForTest } from './support/sharedHub.ts';

// The device clients have no will: mqtt.js has.

test('the will of a device whose connection breaks reaches the event client, marked as a will', async () => {
  const hub = await hubForTest({ devices: [{ deviceId: 'pump' }] });
  const { username = '', password = '', clientId } = connectPacket(hub, 'pump');
  const client = await mqtt.connectAsync({
    protocol: 'mqtts',
    host: 'localhost',
    port: hub.ports.mqtts,
    ca: readFileSync(hub.caFile),
    clientId,
    username,
    password,
    reconnectPeriod: 0,
    will: { topic: 'devices/pump/messages/events/a=1', payload: Buffer.from('gone'), qos: 1, retain: false },
  });
  client.stream.destroy();
  const listening = listenInTest(hub, { startPosition: { sequenceNumber: 0, isInclusive: true } });
  const [event] = await listening.has(1);
  expect(event?.properties).toEqual({ a: '1', 'iothub-MessageType': 'Will' });
  expect(event?.body.toString()).toBe('gone');
  const stamps = { 'iothub-connection-device-id': 'pump', 'iothub-message-source': 'Telemetry' };
  expect(event?.systemProperties).toMatchObject(stamps);
});
