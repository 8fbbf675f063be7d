import type { ReceivedEventData } from '@azure/event-hubs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { notificationSources } from '../src/notifications/hubNotification.ts';
import { called, deviceClient, listenToEvents, moduleClient, registryClient } from './support/clients.ts';
import { hubForAll } from './support/sharedHub.ts';

// Events of the hub's own, as Microsoft's page "IoT Hub non-telemetry event schemas" shows them. What devices and services do
// here they do by the official clients, and so does who reads the events.

let listening: ReturnType<typeof listenToEvents>;
const hub = hubForAll({ partitions: 1, sources: notificationSources });
beforeAll(() => (listening = listenToEvents(hub, { startPosition: { offset: '-1' }, partition: '0' })));
afterAll(() => listening.stop());

const bodyOf = ({ body }: ReceivedEventData) => JSON.parse(body.toString());
/** What the hub says while something is done: so many events. */
async function told(count: number, act: () => Promise<unknown>): Promise<ReceivedEventData[]> {
  const before = listening.events.length;
  await act();
  return (await listening.has(before + count)).slice(before);
}
const expected = (source: string, schema: string, opType: string, deviceId: string) => ({
  systemProperties: { 'iothub-connection-device-id': deviceId, 'iothub-message-source': source },
  properties: { hubName: 'sandbox-hub', deviceId, opType, 'iothub-message-schema': schema },
});

describe('a notification', () => {
  test('of a created device has its twin', async () => {
    const [event] = await told(1, () => registryClient(hub).create({ deviceId: 'pump-1' }));
    expect(event).toMatchObject({
      ...expected('deviceLifecycleEvents', 'deviceLifecycleNotification', 'createDeviceIdentity', 'pump-1'),
      contentType: 'application/json',
      correlationId: expect.any(String),
    });
    expect(event?.systemProperties).toEqual({
      ...{ contentEncoding: 'utf-8', contentType: 'application/json', correlationId: expect.any(String) },
      userId: expect.anything(),
      'iothub-connection-device-id': 'pump-1',
      'iothub-enqueuedtime': expect.any(Number),
      'iothub-message-source': 'deviceLifecycleEvents',
    });
    expect(event?.properties?.['operationTimestamp']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/);
    expect(event && bodyOf(event)).toMatchObject({
      ...{ deviceId: 'pump-1', etag: expect.any(String), version: 2 },
      properties: { desired: { $metadata: {}, $version: 1 }, reported: { $metadata: {}, $version: 1 } },
    });
  });
  test('of a created module has the module’s stamp', async () => {
    const [event] = await told(1, () => registryClient(hub).addModule({ deviceId: 'pump-1', moduleId: 'm1' }));
    expect(event).toMatchObject({
      systemProperties: { 'iothub-connection-module-id': 'm1' },
      properties: { moduleId: 'm1', opType: 'createDeviceIdentity' },
    });
  });
  test('of a connected or disconnected device has an increasing sequence number', async () => {
    const device = await deviceClient(hub, 'pump-1');
    const [came] = await told(1, () => device.open());
    const [left] = await told(1, () => device.close());
    const state = (opType: string) =>
      expected('deviceConnectionStateEvents', 'deviceConnectionStateNotification', opType, 'pump-1');
    expect([came, left]).toMatchObject([state('deviceConnected'), state('deviceDisconnected')]);
    const numbers = [came, left].map((event) => event && bodyOf(event).sequenceNumber);
    expect(numbers[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(numbers[1] > numbers[0]).toBe(true);
  });
  test('of a connected module names the module in the application properties only', async () => {
    const module = await moduleClient(hub, 'pump-1', 'm1');
    const [event] = await told(1, () => module.open());
    await told(1, () => module.close());
    expect(event?.properties).toMatchObject({ deviceId: 'pump-1', moduleId: 'm1' });
    expect(event?.systemProperties).not.toHaveProperty('iothub-connection-module-id');
    expect(event?.systemProperties).not.toHaveProperty('iothub-connection-auth-method');
  });
  test('of a twin update by a service has the changed values with their metadata', async () => {
    const patch = { tags: { hall: 7 }, properties: { desired: { interval: 5, limits: { low: 1 } } } };
    await told(1, () => registryClient(hub, 'iothubowner').updateTwin('pump-1', patch, '*'));
    const change = { properties: { desired: { limits: { high: 9 }, interval: null } } };
    const [event] = await told(1, () => registryClient(hub, 'iothubowner').updateTwin('pump-1', change, '*'));
    expect(event).toMatchObject(expected('twinChangeEvents', 'twinChangeNotification', 'updateTwin', 'pump-1'));
    expect(event && bodyOf(event)).toEqual({
      version: 4,
      properties: {
        desired: {
          interval: null,
          limits: { high: 9 },
          $metadata: {
            $lastUpdated: expect.any(String),
            $lastUpdatedVersion: 3,
            limits: { high: { $lastUpdated: expect.any(String), $lastUpdatedVersion: 3 } },
          },
          $version: 3,
        },
      },
    });
  });
  test('of a twin update by a device has the reported values, and of a replacement the whole twin', async () => {
    const device = await deviceClient(hub, 'pump-1');
    await told(1, () => device.open());
    const twin = await device.getTwin();
    const [reported] = await told(1, () => called((done) => twin.properties.reported.update({ rpm: 900 }, done)));
    await told(1, () => device.close());
    expect(reported && bodyOf(reported)).toMatchObject({ properties: { reported: { rpm: 900, $version: 2 } } });
    const whole = { tags: { hall: 8 }, properties: { desired: { interval: 6 } } };
    const [replaced] = await told(1, () =>
      called((done) => registryClient(hub, 'iothubowner').updateModuleTwin('pump-1', 'm1', whole, '*', done)),
    );
    expect(replaced?.properties).toMatchObject({ opType: 'updateTwin', moduleId: 'm1' });
    const [event] = await told(1, async () => hub.twins.change('pump-1', whole, true));
    expect(event?.properties).toMatchObject({ opType: 'replaceTwin' });
    expect(event && bodyOf(event)).toMatchObject({ deviceId: 'pump-1', tags: { hall: 8 }, etag: expect.any(String) });
  });
  test('of a deleted device is followed by those of its modules', async () => {
    const events = await told(2, () => registryClient(hub).delete('pump-1'));
    expect(events.map(({ properties }) => [properties?.['opType'], properties?.['moduleId']])).toEqual([
      ['deleteDeviceIdentity', 'm1'],
      ['deleteDeviceIdentity', undefined],
    ]);
    expect(events.map(bodyOf)[1]).toMatchObject({ deviceId: 'pump-1', tags: { hall: 8 } });
  });
});
