import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import type iothub from 'azure-iothub';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { deviceClient, moduleClient } from './support/clients.ts';
import { connectedDevice, publishPacket, type RawDevice } from './support/device.ts';
import { serviceForAll } from './support/eventClients.ts';
import { deviceForEach, hubForAll } from './support/sharedHub.ts';

// Direct methods as the official service client meets them.

let service: iothub.Client;
let deviceId = '';
const hub = hubForAll({ rules: { methodsAtOnce: 3 } });
serviceForAll(hub, (opened) => (service = opened));
deviceForEach(hub, (id) => (deviceId = id));
afterEach(() => hub.faults.clear());

const invoke = async (call: object = {}, to = deviceId, moduleId?: string, client = service): Promise<unknown> => {
  const parameters = { methodName: 'start', ...call };
  const invoked = moduleId
    ? client.invokeDeviceMethod(to, moduleId, parameters)
    : client.invokeDeviceMethod(to, parameters);
  return ((await invoked) as { result: unknown }).result;
};

/** What the service client throws, and what it does not look at: the code in the JSON inside the JSON. */
const failure = (...call: Parameters<typeof invoke>) =>
  invoke(...call).then(
    () => undefined,
    (error: Error & { response?: { statusCode: number }; responseBody?: string }) => ({
      name: error.constructor.name,
      status: error.response?.statusCode,
      ...read(error.responseBody ?? ''),
    }),
  );

function read(body: string): { code: unknown; says: unknown } {
  const { Message, ExceptionMessage } = JSON.parse(body);
  const { errorCode, message, trackingId, timestampUtc, info } = JSON.parse(Message);
  expect([ExceptionMessage, info]).toEqual(['', {}]);
  expect(trackingId).toContain(timestampUtc);
  return { code: errorCode, says: message };
}

/** A device that listens and answers nothing by itself. */
async function listener(): Promise<RawDevice> {
  const device = await connectedDevice(hub, deviceId);
  onTestFinished(() => void device.socket.destroy());
  device.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '$iothub/methods/POST/#', qos: 0 }] });
  await device.next('suback');
  return device;
}

const asked = async (device: RawDevice) => /rid=(.*)/.exec((await device.next('publish')).topic)?.[1];
const respond = (device: RawDevice, rid: string | undefined, payload: string | Buffer, status = 200) =>
  device.send(publishPacket(`$iothub/methods/res/${status}/?$rid=${rid}`, payload));

describe('a direct method', () => {
  test.each([
    ['MQTT', mqtt.Mqtt],
    ['AMQP', amqp.Amqp],
  ] as const)('is answered by a device and by a module over %s', async (_, transport) => {
    hub.registry.create(deviceId, { moduleId: 'm1' });
    const device = await deviceClient(hub, deviceId, hub.deviceConnectionString(deviceId), transport);
    const module = await moduleClient(hub, deviceId, 'm1', transport);
    onTestFinished(async () => void (await Promise.all([device.close(), module.close()])));
    device.onDeviceMethod('start', ({ payload }, response) => void response.send(201, { device: payload }));
    module.onMethod('start', (request, response) => void response?.send(202, { module: request?.payload }));
    await Promise.all([device.open(), module.open()]);
    const call = { payload: { speed: 3 }, connectTimeoutInSeconds: 20 };
    expect(await invoke(call)).toEqual({ status: 201, payload: { device: { speed: 3 } } });
    expect(await invoke(call, deviceId, 'm1')).toEqual({ status: 202, payload: { module: { speed: 3 } } });
  });
  test('passes an answer on unchanged, however deeply it is nested', async () => {
    const device = await listener();
    const answered = invoke();
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    respond(device, await asked(device), deep);
    const { status, payload } = (await answered) as { status: number; payload: unknown };
    expect([status, Array.isArray(payload)]).toEqual([200, true]);
  });
  test('to an unknown module, or one of a disabled device, is refused as not found', async () => {
    expect(await failure({}, deviceId, 'nothing')).toMatchObject({ status: 404, code: 404001 });
    hub.registry.create(deviceId, { moduleId: 'm1' });
    hub.registry.update(deviceId, { status: 'disabled' });
    expect(await failure({ connectTimeoutInSeconds: 20 }, deviceId, 'm1')).toMatchObject({ code: 404001 });
  });
  test('to a connected device that does not listen is refused in the same way', async () => {
    const device = await connectedDevice(hub, deviceId);
    onTestFinished(() => void device.socket.destroy());
    expect(await failure()).toMatchObject({ status: 404, code: 404103 });
  });
  test('waits for a device to connect', async () => {
    const answer = invoke({ connectTimeoutInSeconds: 20 });
    const device = await listener();
    respond(device, await asked(device), '"late"');
    expect(await answer).toEqual({ status: 200, payload: 'late' });
  });
  test.each<[string, (device: RawDevice) => unknown]>([
    ['disconnects', (device) => device.socket.destroy()],
    ['is disabled', () => hub.registry.update(deviceId, { status: 'disabled' })],
  ])('ends when the device %s during the call', async (_, leave) => {
    const device = await listener();
    const failed = failure();
    await asked(device);
    leave(device);
    expect(await failed).toMatchObject({ status: 404, code: 404103, says: 'Device unavailable.' });
  });
  test('ends when a module over AMQP disconnects during the call', async () => {
    hub.registry.create(deviceId, { moduleId: 'm1' });
    const module = await moduleClient(hub, deviceId, 'm1', amqp.Amqp);
    module.onMethod('start', () => void hub.faults.strike({ kind: 'drop', deviceId }));
    module.on('error', () => undefined);
    await module.open();
    const failed = await failure({ connectTimeoutInSeconds: 20 }, deviceId, 'm1');
    expect(failed).toMatchObject({ status: 404, code: 404103, says: 'Device unavailable.' });
  });
  test.each([
    ['is not JSON', '{'],
    ['is not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['has more than 128 KB', JSON.stringify('x'.repeat(128 * 1024 - 1))],
  ])('is a bad response when the device’s answer %s', async (_, answer) => {
    const device = await listener();
    const failed = failure();
    respond(device, await asked(device), answer);
    expect(await failed).toMatchObject({ name: 'BadDeviceResponseError', status: 502, code: 502001 });
  });
  test('is refused when the device has the most calls under way', async () => {
    const device = await listener();
    const answers = [invoke(), invoke(), invoke()];
    const rids = [await asked(device), await asked(device), await asked(device)];
    expect(await failure()).toMatchObject({ name: 'TooManyDevicesError', status: 403, code: 403800 });
    for (const rid of rids) respond(device, rid, 'null');
    await Promise.all(answers);
    const after = invoke();
    respond(device, await asked(device), '"room again"');
    expect(await after).toEqual({ status: 200, payload: 'room again' });
  });
  test('with a time-out of 301 seconds is refused', async () => {
    const says = expect.stringContaining('must be within [5; 300]');
    const failed = { name: 'ArgumentError', status: 400, code: 400004, says };
    expect(await failure({ responseTimeoutInSeconds: 301 })).toMatchObject(failed);
  });
  test('is in the journal with its payload, time-outs and result', async () => {
    await failure({ payload: { speed: 3 }, responseTimeoutInSeconds: 7, connectTimeoutInSeconds: 1 });
    const device = await listener();
    const answer = invoke();
    respond(device, await asked(device), 'null', 204);
    await answer;
    const times = { responseTimeoutInSeconds: 7, connectTimeoutInSeconds: 1 };
    const called = { methodName: 'start', payload: '{"speed":3}', ...times };
    const usual = { methodName: 'start', payload: 'null', responseTimeoutInSeconds: 30, connectTimeoutInSeconds: 0 };
    expect(hub.journal.list({ kind: 'method', deviceId })).toMatchObject([
      { ...called, refused: 'com.microsoft:device-not-online' },
      { ...usual, status: 204 },
    ]);
  });
});

describe('a fault of direct methods', () => {
  test.each([
    ['throttles', 429001, 'ThrottlingError'],
    ['refuses the key', 401002, 'UnauthorizedError'],
    ['says that the device has too many calls', 403800, 'TooManyDevicesError'],
    ['says that the device took too long', 504101, 'GatewayTimeoutError'],
    ['says that the hub is busy', 503001, 'ServiceUnavailableError'],
  ])('%s', async (_, errorCode, name) => {
    hub.faults.add({ kind: 'method', answer: 'refuse', errorCode, times: 1 });
    const status = Math.floor(errorCode / 1000);
    expect(await failure()).toMatchObject({ name, status, code: errorCode });
    expect(await failure()).toMatchObject({ code: 404103 });
  });
  test('applies to one device, or one method, and not to others', async () => {
    hub.faults.add({ kind: 'method', answer: 'refuse', deviceId });
    hub.faults.add({ kind: 'method', answer: 'refuse', methodName: 'stop' });
    expect(await failure()).toMatchObject({ code: 500001 });
    expect(await failure({ methodName: 'stop' }, 'nobody')).toMatchObject({ code: 500001 });
    expect(await failure({}, 'nobody')).toMatchObject({ code: 404001 });
  });
  test('loses the answer although the device gets the call', async () => {
    const device = await listener();
    hub.faults.add({ kind: 'method', answer: 'refuse', errorCode: 504101, effect: true });
    const failed = failure();
    respond(device, await asked(device), '"done"');
    expect(await failed).toMatchObject({ code: 504101 });
    expect(hub.journal.list({ kind: 'method', deviceId })).toMatchObject([{ status: 200 }]);
  });
  test('sends no answer, and the client waits', async () => {
    hub.faults.add({ kind: 'method', answer: 'silent' });
    const over = vi.fn();
    invoke().then(over, over);
    await expect.poll(() => hub.faults.list()).toMatchObject([{ struck: 1 }]);
    hub.faults.clear();
    expect(await failure()).toMatchObject({ code: 404103 });
    expect(over).not.toHaveBeenCalled();
  });
  test.each([
    ['resets the connection', 'reset', 'ECONNRESET'],
    ['answers a body that is not JSON', 'garbage', SyntaxError],
  ] as const)('%s', async (_, answer, error) => {
    hub.faults.add({ kind: 'method', answer });
    await expect(invoke()).rejects.toThrow(error);
  });
  test('delays the answer', async () => {
    const device = await listener();
    hub.faults.add({ kind: 'method', answer: 'delay', ms: 50 });
    const began = performance.now();
    const answer = invoke();
    respond(device, await asked(device), '"late"');
    expect(await answer).toEqual({ status: 200, payload: 'late' });
    expect(performance.now() - began).toBeGreaterThanOrEqual(49);
  });
});
