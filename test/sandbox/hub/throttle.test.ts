import amqp from 'azure-iot-device-amqp';
import type iothub from 'azure-iothub';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { HubRules } from '../../../sandbox/hub/core/core.ts';
import { createThrottle, tierRates } from '../../../sandbox/hub/limits/throttle.ts';
import {
  deviceClient,
  deviceMessage,
  nameOfError,
  registryClient,
  serviceClient,
  serviceMessage,
} from './support/clients.ts';
import { connectedDevice, connectPacket, publishPacket, rawDevice } from './support/device.ts';
import { freshHub } from './support/hub.ts';

const throttled = { condition: 'com.microsoft:device-container-throttled' };

describe('a rate', () => {
  test('lets as many through in a second as it says, and goes on with time', () => {
    let now = 0;
    const throttle = createThrottle({ c2d: 2 }, () => now);
    throttle.take('c2d');
    throttle.take('c2d');
    expect(() => throttle.take('c2d')).toThrow(expect.objectContaining(throttled));
    now += 500;
    throttle.take('c2d');
    expect(() => throttle.take('c2d')).toThrow(expect.objectContaining(throttled));
  });
  test('does not save up what is not used', () => {
    let now = 0;
    const throttle = createThrottle({ c2d: 2 }, () => now);
    throttle.take('c2d');
    now += 3_600_000;
    throttle.take('c2d', 2);
    expect(() => throttle.take('c2d')).toThrow(expect.objectContaining(throttled));
  });
  test('of less than one a second lets one through now and then', () => {
    let now = 0;
    const throttle = createThrottle({ registry: 100 / 60 / 10 }, () => now);
    throttle.take('registry');
    expect(() => throttle.take('registry')).toThrow();
    now += 6000;
    throttle.take('registry');
  });
  test('leaves other operations alone', () => {
    const throttle = createThrottle({ c2d: 1 }, () => 0);
    for (let i = 0; i < 1000; i++) throttle.take('d2c');
  });
  test('holds back what is shaped, in order, and refuses what would wait too long', () => {
    vi.useFakeTimers();
    try {
      const throttle = createThrottle({ c2d: 2 }, Date.now, 1_000);
      const went: string[] = [];
      const shape = (name: string) =>
        throttle.shape('c2d', (refusal) => void went.push(`${name}${refusal ? ` ${refusal.condition}` : ''}`));
      for (const name of ['1', '2', '3', '4', '5']) shape(name);
      expect(went).toEqual(['1', '2', `5 ${throttled.condition}`]);
      vi.advanceTimersByTime(500);
      expect(went.slice(3)).toEqual(['3']);
      vi.advanceTimersByTime(500);
      expect(went.slice(4)).toEqual(['4']);
      shape('6');
      throttle.close();
      vi.advanceTimersByTime(10_000);
      expect(went).toHaveLength(5);
    } finally {
      vi.useRealTimers();
    }
  });
  test('grows with tier and units as Azure documents it', () => {
    expect(tierRates('S1')).toMatchObject({ connect: 100, d2c: 100, c2d: 100 / 60, twinRead: 100, twinUpdate: 50 });
    expect(tierRates('S1', 10)).toMatchObject({ d2c: 120, c2d: 1000 / 60 });
    expect(tierRates('S2', 2)).toMatchObject({ connect: 240, d2c: 240, c2d: 200 / 60, method: 240 });
    expect(tierRates('S3')).toMatchObject({ d2c: 6000, c2d: 5000 / 60, method: 6144, twinUpdate: 250 });
  });
});

describe('a hub that throttles', () => {
  const start = async (rules: HubRules) => {
    const frozen = Date.now();
    const hub = await freshHub({ rules, devices: [{ deviceId: 'pump' }], now: () => frozen });
    onTestFinished(() => hub.stop());
    return hub;
  };
  const opened = async (hub: Awaited<ReturnType<typeof start>>): Promise<iothub.Client> => {
    const service = serviceClient(hub);
    await service.open();
    onTestFinished(async () => void (await service.close()));
    return service;
  };

  test('refuses messages to devices in the words that the service client knows', async () => {
    const service = await opened(await start({ tier: 'S1' }));
    await service.send('pump', serviceMessage('x'));
    expect(await nameOfError(service.send('pump', serviceMessage('x')))).toBe('ThrottlingError');
  });
  test('answers messages to devices late before it refuses them, when it shapes', async () => {
    const service = await opened(await start({ rates: { c2d: 4 }, shapingMs: 500 }));
    const began = performance.now();
    const send = () => nameOfError(service.send('pump', serviceMessage('x')));
    await send(); // the link
    expect(await Promise.all(Array.from({ length: 6 }, send))).toEqual([...Array(5).fill('none'), 'ThrottlingError']);
    expect(performance.now() - began).toBeGreaterThanOrEqual(490);
  });
  test('says that its quota is used up in the words that the service client takes for a full queue', async () => {
    const hub = await start({});
    hub.faults.add({ kind: 'quota' });
    const error = await opened(hub)
      .then((service) => service.send('pump', serviceMessage('x')))
      .catch((reason) => reason);
    expect(error.constructor.name).toBe('DeviceMaximumQueueDepthExceededError');
    expect(error.amqpError.description).toContain('403002');
    expect(hub.devicebound.pending('pump')).toEqual([]);
  });
  test('does not throttle unless it is told to', async () => {
    const service = await opened(await start({}));
    for (let i = 0; i < 20; i++) await service.send('pump', serviceMessage('x'));
  });
  test('refuses method calls', async () => {
    const service = await opened(await start({ tier: 'S1', rates: { method: 1 } }));
    const call = { methodName: 'start' };
    expect(await nameOfError(service.invokeDeviceMethod('pump', call))).toBe('Error'); // not online
    expect(await nameOfError(service.invokeDeviceMethod('pump', call))).toBe('ThrottlingError');
  });
  test('refuses registry requests', async () => {
    const registry = registryClient(await start({ tier: 'S1' }));
    await registry.get('pump');
    expect(await nameOfError(registry.get('pump'))).toBe('ThrottlingError');
  });
  test('rejects messages from AMQP devices', async () => {
    const hub = await start({ rates: { d2c: 1 } });
    const client = await deviceClient(hub, 'pump', undefined, amqp.Amqp);
    onTestFinished(() => void client.close());
    await client.open();
    await client.sendEvent(deviceMessage('x'));
    expect(await nameOfError(client.sendEvent(deviceMessage('x')))).toBe('ThrottlingError');
  });
  test('disconnects MQTT devices that send too much', async () => {
    const hub = await start({ rates: { d2c: 1 } });
    const device = await connectedDevice(hub, 'pump');
    device.send(publishPacket('devices/pump/messages/events/', 'x'));
    await device.next('puback');
    device.send(publishPacket('devices/pump/messages/events/', 'x', { messageId: 2 }));
    await device.closed;
    expect(hub.journal.list({ kind: 'd2c' })).toHaveLength(1);
  });
  test('turns away devices that connect too fast, as not available', async () => {
    const hub = await start({ rates: { connect: 1 } });
    await connectedDevice(hub, 'pump');
    const second = await rawDevice(hub);
    second.send(connectPacket(hub, 'pump'));
    expect((await second.next('connack')).returnCode).toBe(3);
    await second.closed;
  });
  test('refuses links that are opened too fast', async () => {
    const hub = await start({ rates: { connect: 1 } });
    const service = await opened(hub);
    await service.send('pump', serviceMessage('x'));
    const second = await opened(hub);
    expect(await nameOfError(second.send('pump', serviceMessage('x')))).toBe('ThrottlingError');
  });
});
