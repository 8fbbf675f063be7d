import { generate, type IConnectPacket } from 'mqtt-packet';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { signSas } from '../src/identity/sas.ts';
import { keyOf } from './support/bare.ts';
import {
  connectedDevice,
  connectPacket,
  publishPacket,
  type RawDevice,
  rawDevice,
  subscribe,
} from './support/device.ts';
import { hubForEach } from './support/sharedHub.ts';

let healthy: RawDevice;
let lead = 0;
beforeEach(() => (lead = 0));
const devices = [{ deviceId: 'pump-1' }, { deviceId: 'pump-2' }, { deviceId: 'healthy' }];
const hub = hubForEach({ devices, now: () => Date.now() + lead });
beforeEach(async () => (healthy = await connectedDevice(hub, 'healthy')));
afterEach(async () => {
  // whatever a test did, the others are served as before
  healthy.send(publishPacket('devices/healthy/messages/events/', 'still here', { messageId: 99 }));
  expect((await healthy.next('puback')).messageId).toBe(99);
});

const events = (deviceId: string) => hub.journal.list({ kind: 'd2c', deviceId });
const soon = () => Math.floor(Date.now() / 1000) + 600;

describe('connecting', () => {
  const answerTo = async (packet: Parameters<RawDevice['send']>[0]) => {
    const device = await rawDevice(hub);
    device.send(packet);
    const { returnCode } = await device.next('connack');
    await device.closed;
    return returnCode;
  };
  const token = (resource: string, key = 'bm90IHRoZSByaWdodCBrZXk=', expiry = soon(), policy?: string) =>
    Buffer.from(signSas(resource, key, 'base64', expiry, policy));
  const own = (deviceId: string) => hub.registry.get(deviceId)?.primaryKey;

  test('a policy with the right deviceConnect is accepted for any device', async () => {
    const password = token('localhost', keyOf(hub, 'device'), soon(), 'device');
    await connectedDevice(hub, 'pump-1', { password });
    expect(hub.isConnected('pump-1')).toBe(true);
  });
  test.each<[string, number, () => Partial<IConnectPacket>]>([
    ['another policy', 5, () => ({ password: token('localhost', keyOf(hub, 'service'), soon(), 'service') })],
    ['a wrong key', 5, () => ({ password: token('localhost/devices/pump-1') })],
    ['an expired token', 5, () => ({ password: token('localhost/devices/pump-1', own('pump-1'), soon() - 601) })],
    ["another device's token", 5, () => ({ password: token('localhost/devices/pump-2', own('pump-2')) })],
    ['a token for another host', 5, () => ({ password: token('elsewhere.example/devices/pump-1', own('pump-1')) })],
    ['an unknown device', 5, () => connectPacket(hub, 'nobody')],
    ['a client id other than the user name', 5, () => ({ clientId: 'pump-2' })],
    ['a user name without an API version', 5, () => ({ username: 'localhost/pump-1/' })],
    ['one of a version that is none', 5, () => ({ username: 'localhost/pump-1/?api-version=2021' })],
    ['MQTT 3.1', 1, () => ({ protocolId: 'MQIsdp', protocolVersion: 3 })],
  ])('%s is refused with code %i', async (_, code, changes) =>
    expect(await answerTo(connectPacket(hub, 'pump-1', changes()))).toBe(code),
  );
  test('a connection without a password is refused with code 5', async () => {
    const { password: _, ...packet } = connectPacket(hub, 'pump-1');
    expect(await answerTo(packet)).toBe(5);
  });
  test('provisioning is refused by name', async () => {
    const username = '0ne0000/registrations/pump-1/api-version=2019-03-31';
    expect(await answerTo(connectPacket(hub, 'pump-1', { username }))).toBe(5);
    const reason = 'This hub does not provision devices.';
    expect(hub.journal.list({ kind: 'refused' }).at(-1)).toMatchObject({ reason });
  });
  test('refusals are in the journal, with no part of the token', async () => {
    await answerTo(connectPacket(hub, 'nobody'));
    const [entry] = hub.journal.list({ kind: 'refused' });
    expect(entry).toMatchObject({ deviceId: 'nobody', reason: 'There is no device of this id.' });
    expect(JSON.stringify(hub.journal.list())).not.toContain('SharedAccessSignature');
  });
  const holdTimers = () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  /** Let time pass for the hub; sockets go on as they are. */
  const pass = (seconds: number) => {
    lead += seconds * 1000;
    vi.advanceTimersByTime(seconds * 1000);
    vi.useRealTimers();
  };

  test('a connection ends when its token expires', async () => {
    holdTimers();
    const password = token('localhost/devices/pump-1', own('pump-1'), soon() - 580);
    const device = await connectedDevice(hub, 'pump-1', { password });
    pass(21);
    await device.closed;
    expect(hub.journal.list({ kind: 'disconnected' })).toMatchObject([{ reason: 'the token expired' }]);
  });
  test.each([
    ['one and a half times its keep-alive', 20, 30_000],
    ['one and a half times the longest keep-alive', 1177, 1_765_500],
    ['1,767 seconds if it has none', 0, 1_767_000],
    ['1,767 seconds if it has a longer one', 1178, 1_767_000],
    ['1,767 seconds if it has the longest that MQTT knows', 65_535, 1_767_000],
  ])('a device is disconnected after a silence of %s', async (_, keepalive, ms) => {
    holdTimers();
    const device = await connectedDevice(hub, 'pump-1', { keepalive });
    vi.advanceTimersByTime(ms - 1);
    expect(hub.isConnected('pump-1')).toBe(true);
    pass(0.001);
    await device.closed;
    expect(hub.journal.list({ kind: 'disconnected' })).toMatchObject([{ deviceId: 'pump-1' }]);
  });
  test('a device that pings in time stays connected', async () => {
    holdTimers();
    const device = await connectedDevice(hub, 'pump-1', { keepalive: 20 });
    for (let i = 0; i < 3; i++) {
      vi.advanceTimersByTime(29_000);
      device.send({ cmd: 'pingreq' });
      await device.next('pingresp');
    }
    vi.useRealTimers();
    expect(hub.isConnected('pump-1')).toBe(true);
  });
  test('a client that sends no CONNECT is disconnected', async () => {
    holdTimers();
    const device = await rawDevice(hub);
    while (!device.socket.readableEnded && !device.socket.destroyed) {
      vi.advanceTimersByTime(31_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    vi.useRealTimers();
    await device.closed;
  });
});

describe('publishing', () => {
  test('quality of service 1 is acknowledged once the event is in its partition', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    device.send(publishPacket('devices/pump-1/messages/events/a=1', 'x', { messageId: 41 }));
    expect((await device.next('puback')).messageId).toBe(41);
    expect(events('pump-1')).toMatchObject([{ properties: { a: '1' }, body: Buffer.from('x') }]);
  });
  test('quality of service 0 is taken in without an answer', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    device.send(publishPacket('devices/pump-1/messages/events/', 'zero', { qos: 0 }));
    device.send(publishPacket('devices/pump-1/messages/events', 'one'));
    await device.next('puback');
    expect(events('pump-1')).toMatchObject([{ body: Buffer.from('zero') }, { body: Buffer.from('one') }]);
  });
  test.each([
    ['%zz=%', { '%zz': '%' }],
    ['a', { a: '' }],
    ['=b&&a=1&a=2', { a: '2' }],
    ['__proto__=x', { ['__proto__']: 'x' }],
    ['constructor=x&%00=%0d%0a', { constructor: 'x', '\0': '\r\n' }],
  ])('the property bag %j is accepted and harmless', async (bag, properties) => {
    const device = await connectedDevice(hub, 'pump-1');
    device.send(publishPacket(`devices/pump-1/messages/events/${bag}`, ''));
    await device.next('puback');
    const [entry] = events('pump-1');
    expect(entry?.kind === 'd2c' && Object.entries(entry.properties)).toEqual(Object.entries(properties));
  });
  test('a body of 256 KB passes', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    device.send(publishPacket('devices/pump-1/messages/events/', Buffer.alloc(256 * 1024)));
    await device.next('puback');
    expect(events('pump-1')).toHaveLength(1);
  });
  test('retained messages are marked and not retained', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    device.send(publishPacket('devices/pump-1/messages/events/', '', { retain: true }));
    await device.next('puback');
    expect(events('pump-1')).toMatchObject([{ properties: { 'mqtt-retain': 'true' } }]);
  });
  test.each([
    ['one byte over 256 KB', 'devices/pump-1/messages/events/', { payload: Buffer.alloc(256 * 1024 + 1) }],
    ['256 KB and a property', 'devices/pump-1/messages/events/a=', { payload: Buffer.alloc(256 * 1024) }],
    ["another device's topic", 'devices/pump-2/messages/events/', {}],
    ['a topic of no meaning', 'hello', {}],
    ['a plus sign in the property bag', 'devices/pump-1/messages/events/a=1+1', {}],
    ['a number sign in the property bag', 'devices/pump-1/messages/events/a=#1', {}],
    ['a slash in the property bag', 'devices/pump-1/messages/events/a=b/c', {}],
    ['a zero character in the property bag', 'devices/pump-1/messages/events/a=\0', {}],
    ['a wildcard in the answer to a method', '$iothub/methods/res/200/?$rid=+', {}],
    ["a module's topic", 'devices/pump-1/modules/m/messages/events/', {}],
    ['quality of service 2', 'devices/pump-1/messages/events/', { qos: 2 as const }],
  ])('%s ends the connection and appends no event', async (_, topic, changes) => {
    const device = await connectedDevice(hub, 'pump-1');
    device.send(publishPacket(topic, 'x', changes));
    await device.closed;
    expect([...events('pump-1'), ...events('pump-2')]).toEqual([]);
  });
});

describe('a will', () => {
  const topic = 'devices/pump-1/messages/events/a=1';
  const will = { topic, payload: Buffer.from('gone'), qos: 1, retain: false } as const;

  test('is published when the connection breaks, marked as a will', async () => {
    const device = await connectedDevice(hub, 'pump-1', { will });
    device.socket.destroy();
    const properties = { a: '1', 'iothub-MessageType': 'Will' };
    await expect.poll(() => events('pump-1')).toMatchObject([{ properties, body: Buffer.from('gone') }]);
  });
  test('is not published when the device disconnects', async () => {
    const device = await connectedDevice(hub, 'pump-1', { will });
    device.send({ cmd: 'disconnect' });
    await device.closed;
    expect(events('pump-1')).toEqual([]);
  });
  test.each([
    ["for another device's topic", { topic: 'devices/pump-2/messages/events/' }],
    ['of quality of service 2', { qos: 2 }],
    ['with a wildcard in its topic', { topic: `${topic}+` }],
  ] as const)('%s is refused, and the connection with it', async (_, changes) => {
    await expect(connectedDevice(hub, 'pump-1', { will: { ...will, ...changes } })).rejects.toThrow('answered 5');
    expect([...events('pump-1'), ...events('pump-2')]).toEqual([]);
  });
});

test('a device that does not read is disconnected', async () => {
  const device = await connectedDevice(hub, 'pump-1');
  await subscribe(device, 'pump-1', 0);
  device.socket.pause();
  const message = { system: {}, properties: {}, body: Buffer.alloc(60_000) };
  for (let sent = 0; hub.isConnected('pump-1') && sent < 1000; sent++)
    hub.devicebound.enqueue('pump-1', message, 'service');
  expect(hub.journal.list({ kind: 'disconnected' })).toMatchObject([{ reason: 'it does not read what it is sent' }]);
});

describe('garbage', () => {
  test.each([
    ['text', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['zeros', Buffer.alloc(64)],
    ['ones', Buffer.alloc(64, 0xff)],
    ['a length that never ends', Buffer.from([0x30, 0xff, 0xff, 0xff, 0xff, 0xff])],
    ['a packet with a message', generate(publishPacket('devices/pump-1/messages/events/', 'x'))],
  ])('%s before CONNECT ends the connection', async (_, bytes) => {
    const device = await rawDevice(hub);
    device.socket.write(bytes);
    await device.closed;
    expect(events('pump-1')).toEqual([]);
  });
  test('a second CONNECT ends the connection', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    device.send(connectPacket(hub, 'pump-1'));
    await device.closed;
  });
});

describe('subscribing', () => {
  test.each([
    ['devices/pump-1/messages/devicebound/#', 1, 1],
    ['devices/pump-1/messages/devicebound/#', 2, 1],
    ['devices/pump-1/messages/devicebound/#', 0, 0],
    ['$iothub/methods/POST/#', 0, 0],
    ['devices/pump-2/messages/devicebound/#', 1, 0x80],
    ['devices/+/messages/devicebound/#', 1, 0x80],
    ['#', 1, 0x80],
    ['devices/pump-1/messages/events/#', 1, 0x80],
  ] as const)('%s with quality %i is granted %i', async (topic, qos, granted) => {
    const device = await connectedDevice(hub, 'pump-1');
    device.send({ cmd: 'subscribe', messageId: 3, subscriptions: [{ topic, qos }] });
    expect((await device.next('suback')).granted).toEqual([granted]);
  });

  const queue = (text: string) => {
    const body = Buffer.from(text);
    hub.devicebound.enqueue('pump-1', { system: { messageId: text }, properties: {}, body }, 'service');
  };

  test('pending messages are delivered first and in order, then new ones', async () => {
    queue('one');
    queue('two');
    const device = await connectedDevice(hub, 'pump-1');
    await subscribe(device, 'pump-1');
    queue('three');
    const got = [await device.next('publish'), await device.next('publish'), await device.next('publish')];
    expect(got.map(({ payload }) => payload.toString())).toEqual(['one', 'two', 'three']);
    expect(got[0]).toMatchObject({ topic: 'devices/pump-1/messages/devicebound/%24.mid=one', qos: 1, dup: false });
  });
  test('a persistent session keeps its subscription: what was not acknowledged comes again under the same packet id, which no other gets', async () => {
    const first = await connectedDevice(hub, 'pump-1', { clean: false });
    await subscribe(first, 'pump-1');
    for (const text of ['one', 'two']) queue(text);
    const { messageId: acknowledged = 0 } = await first.next('publish');
    const { messageId } = await first.next('publish');
    first.send({ cmd: 'puback', messageId: acknowledged });
    first.send({ cmd: 'pingreq' });
    await first.next('pingresp');
    first.socket.destroy();

    const second = await rawDevice(hub);
    second.send(connectPacket(hub, 'pump-1', { clean: false }));
    expect((await second.next('connack')).sessionPresent).toBe(true);
    expect(await second.next('publish')).toMatchObject({ messageId, dup: true, payload: Buffer.from('two') });
    for (const text of ['three', 'four']) queue(text);
    const others = [await second.next('publish'), await second.next('publish')];
    expect(others.map(({ dup }) => dup)).toEqual([false, false]);
    expect(new Set([messageId, ...others.map((other) => other.messageId)]).size).toBe(3);
  });
  test('a message that no topic can hold is not delivered, and no other waits for it', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    await subscribe(device, 'pump-1');
    const properties = { wide: 'ä'.repeat(11_000) };
    hub.devicebound.enqueue('pump-1', { system: {}, properties, body: Buffer.from('wide') }, 'service');
    queue('next');
    expect((await device.next('publish')).payload.toString()).toBe('next');
    expect(hub.journal.list({ kind: 'c2d-delivered' })).toHaveLength(1);
    expect(hub.devicebound.pending('pump-1')).toHaveLength(2);
  });
  test('a repeated subscription can change the quality of service', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    expect(await subscribe(device, 'pump-1', 1)).toEqual([1]);
    queue('held');
    const { messageId = 0 } = await device.next('publish');
    expect(await subscribe(device, 'pump-1', 0)).toEqual([0]);
    queue('sent');
    expect(await device.next('publish')).toMatchObject({ qos: 0, payload: Buffer.from('sent') });
    expect(hub.devicebound.pending('pump-1').map(({ body }) => body.toString())).toEqual(['held']);
    device.send({ cmd: 'puback', messageId });
    expect(await subscribe(device, 'pump-1', 1)).toEqual([1]);
    queue('held again');
    expect((await device.next('publish')).qos).toBe(1);
  });
  test('no message is delivered before the subscription or after its end', async () => {
    const device = await connectedDevice(hub, 'pump-1');
    queue('early');
    await subscribe(device, 'pump-1', 0);
    expect((await device.next('publish')).payload.toString()).toBe('early');
    device.send({ cmd: 'unsubscribe', messageId: 4, unsubscriptions: ['devices/pump-1/messages/devicebound/#'] });
    await device.next('unsuback');
    queue('late');
    expect(hub.devicebound.pending('pump-1')).toHaveLength(1);
  });
  test('a clean session removes earlier subscriptions', async () => {
    const first = await connectedDevice(hub, 'pump-1', { clean: false });
    await subscribe(first, 'pump-1');
    const second = await rawDevice(hub);
    second.send(connectPacket(hub, 'pump-1', { clean: true }));
    expect((await second.next('connack')).sessionPresent).toBe(false);
    queue('meanwhile');
    expect(hub.journal.list({ kind: 'c2d-delivered' })).toEqual([]);
  });
});
