import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  deviceClient,
  deviceMessage,
  listenToEvents,
  nextMessage,
  serviceClient,
  serviceMessage,
} from './support/clients.ts';
import { freshHub } from './support/hub.ts';

let hub: Awaited<ReturnType<typeof freshHub>>;
beforeAll(async () => {
  hub = await freshHub({ devices: [{ deviceId: 'pump-1' }] });
});
afterAll(() => hub.stop());

test('a device asks, the service hears it and answers, and the device gets the answer', async () => {
  const device = await deviceClient(hub, 'pump-1');
  const reply = nextMessage(device);
  await device.open();
  await device.sendEvent(deviceMessage('{"a":1}', { msgType: 'action' }));

  const listening = listenToEvents(hub, { startPosition: { offset: '-1' } });
  const [event] = await listening.has(1);
  expect(event?.body.toString()).toBe('{"a":1}');
  expect(event?.properties).toEqual({ msgType: 'action' });

  const service = serviceClient(hub);
  await service.open();
  const deviceId = event?.systemProperties?.['iothub-connection-device-id'];
  await service.send(deviceId, serviceMessage('{"success":true}', { messageId: 'm1', properties: { msgType: 'ack' } }));
  const answer = await reply;
  expect(answer.getData().toString()).toBe('{"success":true}');
  expect(answer.properties.getValue('msgType')).toBe('ack');
  expect(answer.messageId).toBe('m1');

  await service.close();
  await listening.stop();
  await device.close();
});
