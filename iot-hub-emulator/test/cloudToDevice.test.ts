import type iothub from 'azure-iothub';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deviceClient, nameOfError, nextMessage, serviceClient, serviceMessage } from './support/clients.ts';
import { deviceForEach, hubForAll, hubForTest } from './support/sharedHub.ts';
import { serviceForAll } from './support/sharedService.ts';

let service: iothub.Client;
let deviceId = '';
const hub = hubForAll();
serviceForAll(hub, (opened) => (service = opened));
deviceForEach(hub, (id) => (deviceId = id));

const sendError = (body: string | Buffer, properties: Record<string, string> = {}, to = deviceId) =>
  nameOfError(service.send(to, serviceMessage(body, { properties })));

describe('connecting', () => {
  test('a wrong key is refused', async () => {
    const wrong = hub.serviceConnectionString.replace(/SharedAccessKey=.*/, 'SharedAccessKey=d3Jvbmc=');
    await expect(serviceClient(hub, wrong).open()).rejects.toMatchObject({ amqpError: { name: 'UnauthorizedError' } });
  });
  test('a policy without the right serviceConnect cannot send', async () => {
    const other = serviceClient(hub, hub.connectionString('device'));
    onTestFinished(() => void other.close());
    await other.open();
    await expect(other.send(deviceId, serviceMessage('no'))).rejects.toMatchObject({ name: 'UnauthorizedError' });
    expect(hub.devicebound.pending(deviceId)).toEqual([]);
  });
  test('the journal has the policy of each message', async () => {
    const owner = serviceClient(hub, hub.connectionString('iothubowner'));
    await owner.open();
    await owner.send(deviceId, serviceMessage('from the owner'));
    await service.send(deviceId, serviceMessage('from the service'));
    await owner.close();
    const entries = hub.journal.list({ deviceId, kind: 'c2d' });
    expect(entries).toMatchObject([{ policy: 'iothubowner' }, { policy: 'service' }]);
  });
});

describe('delivering', () => {
  test('body bytes, application properties and system properties reach the device as they were sent', async () => {
    const device = await deviceClient(hub, deviceId);
    const got = nextMessage(device);
    await device.open();
    const body = Buffer.from([0, 0xff, 0x7b, 0x0d, 0x0a]);
    const properties = { 'a b/+#&=%': 'ä/?#+&=%', empty: '', target: 'x/y' };
    await service.send(deviceId, serviceMessage(body, { messageId: 'm-1', correlationId: 'c 1', properties }));
    const message = await got;
    expect(message.getData()).toEqual(body);
    const types = { contentType: 'application/json', contentEncoding: 'utf-8' };
    expect(message).toMatchObject({ messageId: 'm-1', correlationId: 'c 1', ...types });
    const received = message.properties.propertyList.map(({ key, value }) => [key, value]);
    expect(received).toEqual(Object.entries(properties));
    await device.close();
    expect(hub.devicebound.pending(deviceId)).toEqual([]);
  });
  test('ids in the form of a UUID arrive as text', async () => {
    const id = '0d2a7f0e-6d7c-4c5e-9b2a-1f6d2d1f9a10';
    await service.send(deviceId, serviceMessage('', { messageId: id, correlationId: id }));
    expect(hub.devicebound.pending(deviceId)).toMatchObject([{ system: { messageId: id, correlationId: id } }]);
  });
});

describe('refusing', () => {
  test('a message of exactly 65,536 bytes, properties included, is accepted', async () => {
    // content type, encoding and `to` are system properties; of an application property its name counts as well
    const system = 'application/json'.length + 'utf-8'.length + `/devices/${deviceId}/messages/devicebound`.length;
    const body = Buffer.alloc(65_536 - system - 'name'.length - 'value'.length);
    expect(await sendError(body, { name: 'value' })).toBe('none');
    expect(await sendError(body, { name: 'value+' })).toBe('MessageTooLargeError');
    expect(await sendError(Buffer.alloc(65_537))).toBe('MessageTooLargeError');
  });
  test('the fifty-first pending message is refused until one is completed', async () => {
    for (let i = 0; i < 50; i++) expect(await sendError('x')).toBe('none');
    expect(await sendError('x')).toBe('DeviceMaximumQueueDepthExceededError');
    const completions: (() => void)[] = [];
    const stop = hub.devicebound.listen(deviceId, ({ complete }) => completions.push(complete));
    completions[0]?.();
    stop();
    expect(await sendError('x')).toBe('none');
    expect(await sendError('x')).toBe('DeviceMaximumQueueDepthExceededError');
  });
  test('a full queue does not affect other devices', async () => {
    hub.registry.create(`${deviceId}-other`);
    for (let i = 0; i < 51; i++) await sendError('x');
    expect(await sendError('x', {}, `${deviceId}-other`)).toBe('none');
  });
  test('refused messages are in the journal with the reason', async () => {
    await sendError('x', {}, 'nobody');
    const [entry] = hub.journal.list({ deviceId: 'nobody', kind: 'c2d' }).slice(-1);
    expect(entry).toMatchObject({ policy: 'service', refused: { condition: 'amqp:not-found' } });
  });
});

test('in strict mode a property with characters that IoT Hub does not document is refused', async () => {
  const strict = await hubForTest({ strictProperties: true, devices: [{ deviceId: 'pump' }] });
  const client = serviceClient(strict);
  await client.send('pump', serviceMessage('x', { properties: { good: 'a-b' } }));
  await expect(client.send('pump', serviceMessage('x', { properties: { bad: 'a/b' } }))).rejects.toThrow();
  await client.close();
  expect(strict.devicebound.pending('pump')).toHaveLength(1);
});
