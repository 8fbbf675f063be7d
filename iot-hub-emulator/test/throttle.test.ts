import { once } from 'node:events';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import type iothub from 'azure-iothub';
import rhea, { type EventContext, type Sender } from 'rhea';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { HubRules } from '../src/core/core.ts';
import { answer } from '../src/faults/answering.ts';
import { createStandingFaults } from '../src/faults/standing.ts';
import { startHub } from '../src/hub.ts';
import { createThrottle } from '../src/limits/throttle.ts';
import { limitsOfRates, tierLimits } from '../src/limits/tiers.ts';
import type { Connection } from '../src/network/connections.ts';
import { deviceRoutes } from '../src/rest/deviceMessages.ts';
import { Refusal } from '../src/values/refusal.ts';
import { bareConnection, ended, nextOutcome, outcomeOf, putDeviceToken, putToken } from './support/bare.ts';
import { deviceMessage, nameOfError, registryClient, serviceMessage } from './support/clients.ts';
import { connectedDevice, connectPacket, publishPacket, rawDevice } from './support/device.ts';
import { eventProducer, openDevice, openService } from './support/eventClients.ts';
import { hubForAll, hubForTest } from './support/sharedHub.ts';

const throttled = { condition: 'com.microsoft:device-container-throttled' };

const refusal = (code: string) => ({ ...throttled, message: expect.stringContaining(code) });
const perSecond = (count: number) => ({ count, perMs: 1000 });

describe('a limit', () => {
  test('allows its number of operations in a window, and no more until the next', () => {
    let now = 0;
    const throttle = createThrottle({ registry: { count: 100, perMs: 60_000 } }, () => now);
    throttle.take('registry', 50);
    now += 30_000;
    throttle.take('registry', 50);
    now += 29_999;
    expect(() => throttle.take('registry')).toThrow(expect.objectContaining(refusal('429001')));
    now += 1;
    throttle.take('registry', 100);
    expect(() => throttle.take('registry')).toThrow(expect.objectContaining(throttled));
  });
  test('does not carry unused operations over to the next window', () => {
    let now = 0;
    const throttle = createThrottle({ method: perSecond(2) }, () => now);
    throttle.take('method');
    now += 3_600_000;
    throttle.take('method', 2);
    expect(() => throttle.take('method')).toThrow(expect.objectContaining(throttled));
  });
  test('allows a request larger than the limit in a window of its own', () => {
    let now = 0;
    const throttle = createThrottle({ method: perSecond(2) }, () => now);
    throttle.take('method', 5);
    expect(() => throttle.take('method')).toThrow();
    now += 1000;
    throttle.take('method');
    expect(() => throttle.take('method', 5)).toThrow();
  });
  test('of less than one a second allows one at longer intervals', () => {
    let now = 0;
    const throttle = createThrottle(limitsOfRates({ registry: 100 / 60 / 10 }), () => now);
    throttle.take('registry');
    now += 5999;
    expect(() => throttle.take('registry')).toThrow();
    now += 1;
    throttle.take('registry');
  });
  test('does not affect other operations', () => {
    const throttle = createThrottle({ c2d: perSecond(1) }, () => 0);
    for (let i = 0; i < 1000; i++) throttle.take('d2c');
  });
  test('grows with tier and units as Azure documents it', () => {
    const aMinute = (count: number) => ({ count, perMs: 60_000 });
    const [first, twinRead, twinUpdate] = [perSecond(100), perSecond(100), perSecond(50)];
    expect(tierLimits('S1')).toMatchObject({ connect: first, d2c: first, c2d: aMinute(100), twinRead, twinUpdate });
    expect(tierLimits('S1', 10)).toMatchObject({ d2c: perSecond(120), c2d: aMinute(1000), registry: aMinute(1000) });
    expect(tierLimits('S2', 2)).toMatchObject({ connect: perSecond(240), d2c: perSecond(240), c2d: aMinute(200) });
    expect(tierLimits('S3')).toMatchObject({ d2c: perSecond(6000), c2d: aMinute(5000), method: perSecond(6144) });
  });
});

describe('shaping', () => {
  beforeEach(() => void vi.useFakeTimers());

  /** Ask for operations by name; what went so far, with the code of a refusal. */
  const shaping = (...parameters: Parameters<typeof createThrottle>) => {
    const throttle = createThrottle(...parameters);
    const went: string[] = [];
    const ask = (...names: string[]) => {
      for (const name of names)
        throttle.shape('c2d', (refused) => {
          went.push(refused ? `${name} ${/429\d{3}/.exec(refused.message)}` : name);
        });
    };
    return { went, ask, close: throttle.close };
  };

  test('allows a burst, then delays operations to the rate, in order, then refuses them', () => {
    const { went, ask } = shaping({ c2d: perSecond(2) }, Date.now, { ms: 1000 });
    ask('1', '2', '3', '4', '5');
    expect(went).toEqual(['1', '2', '5 429002']);
    vi.advanceTimersByTime(499);
    expect(went.slice(3)).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(went.slice(3)).toEqual(['3']);
    vi.advanceTimersByTime(500);
    expect(went.slice(4)).toEqual(['4']);
    vi.advanceTimersByTime(10_000);
    ask('6', '7');
    expect(went.slice(5)).toEqual(['6', '7']);
  });
  test('refuses after the longest delay, when the backlog allows so many operations', () => {
    const { went, ask } = shaping({ c2d: perSecond(1) }, Date.now, { ms: 1500, backlog: 3 });
    ask('1', '2', '3', '4', '5');
    expect(went).toEqual(['1', '5 429002']);
    vi.advanceTimersByTime(1499);
    expect(went.slice(2)).toEqual(['2']);
    vi.advanceTimersByTime(1);
    expect(went.slice(3)).toEqual(['3 429003', '4 429003']);
    ask('6');
    vi.advanceTimersByTime(500);
    expect(went.slice(5)).toEqual(['6']);
  });
  test('allows the whole number of a limit for a minute at once', () => {
    const { went, ask } = shaping(tierLimits('S1'), Date.now, { ms: 60_000 });
    ask(...Array.from({ length: 201 }, (_, i) => `${i}`));
    expect(went).toHaveLength(101);
    expect(went.at(-1)).toBe('200 429002');
    vi.advanceTimersByTime(599);
    expect(went).toHaveLength(101);
    vi.advanceTimersByTime(1);
    expect(went.at(-1)).toBe('100');
    vi.advanceTimersByTime(59_400);
    expect(went.at(-1)).toBe('199');
  });
  test('releases no held operation after its end', () => {
    const { went, ask, close } = shaping({ c2d: perSecond(1) }, Date.now, { ms: 5000 });
    ask('1', '2');
    close();
    vi.advanceTimersByTime(10_000);
    expect(went).toEqual(['1']);
  });
});

describe('a hub that throttles', () => {
  const start = (rules: HubRules) => {
    const frozen = Date.now();
    return hubForTest({ rules, devices: [{ deviceId: 'pump' }], now: () => frozen });
  };

  test('answers messages to devices late before it refuses them, when it shapes', async () => {
    const service = await openService(await start({ rates: { c2d: 4 }, shapingMs: 500 }));
    const began = performance.now();
    const send = () => nameOfError(service.send('pump', serviceMessage('x')));
    await send(); // the link
    expect(await Promise.all(Array.from({ length: 6 }, send))).toEqual([...Array(5).fill('none'), 'ThrottlingError']);
    expect(performance.now() - began).toBeGreaterThanOrEqual(490);
  });
  test('refuses an exhausted quota with the error that the service client takes for a full queue', async () => {
    const hub = await start({});
    hub.faults.add({ kind: 'quota' });
    const error = await openService(hub)
      .then((service) => service.send('pump', serviceMessage('x')))
      .catch((reason) => reason);
    expect(error.constructor.name).toBe('DeviceMaximumQueueDepthExceededError');
    expect(error.amqpError.description).toContain('403002');
    expect(hub.devicebound.pending('pump')).toEqual([]);
  });
  test('refuses method calls', async () => {
    const service = await openService(await start({ tier: 'S1', rates: { method: 1 } }));
    const call = { methodName: 'start' };
    expect(await nameOfError(service.invokeDeviceMethod('pump', call))).toBe('Error'); // not online
    expect(await nameOfError(service.invokeDeviceMethod('pump', call))).toBe('ThrottlingError');
  });
  test('refuses registry requests', async () => {
    const registry = registryClient(await start({ tier: 'S1' }));
    for (let i = 0; i < 100; i++) await registry.get('pump');
    expect(await nameOfError(registry.get('pump'))).toBe('ThrottlingError');
  });
  test('counts each device of a registry request about many', async () => {
    const hub = await start({ tier: 'S1' });
    const registry = registryClient(hub);
    const fifty = (group: string) => {
      const devices = Array.from({ length: 50 }, (_, i) => ({ deviceId: `${group}${i}`, status: 'enabled' }));
      return registry.addDevices(devices as iothub.Device[]);
    };
    await fifty('a');
    await fifty('b');
    expect(await nameOfError(fifty('c'))).toBe('ThrottlingError');
    expect(hub.registry.get('c0')).toBeUndefined();
  });
  test('rejects messages from AMQP devices', async () => {
    const hub = await start({ rates: { d2c: 1 } });
    const client = await openDevice(hub, 'pump', undefined, amqp.Amqp);
    await client.sendEvent(deviceMessage('x'));
    expect(await nameOfError(client.sendEvent(deviceMessage('x')))).toBe('ThrottlingError');
  });
  test.each([
    ['AMQP', amqp.Amqp],
    ['MQTT', mqtt.Mqtt],
  ])('answers devices over %s late before it refuses them, when it shapes', async (_, transport) => {
    const hub = await start({ rates: { d2c: 4 }, shapingMs: 500 });
    const client = await openDevice(hub, 'pump', undefined, transport);
    const began = performance.now();
    const bodies = ['1', '2', '3', '4', '5', '6'];
    const outcomes = await Promise.all(bodies.map((body) => nameOfError(client.sendEvent(deviceMessage(body)))));
    expect(outcomes).toEqual(bodies.map(() => 'none'));
    expect(performance.now() - began).toBeGreaterThanOrEqual(490);
    const arrived = hub.journal.list({ kind: 'd2c' }).map((entry) => 'body' in entry && String(entry.body));
    expect(arrived).toEqual(bodies);
  });
  test('takes late what an AMQP device sends, also what it cannot read of it', async () => {
    const hub = await start({ rates: { d2c: 4 }, shapingMs: 1000 });
    const connection = await bareConnection(hub);
    await putDeviceToken(hub, connection, 'pump');
    const sender = connection.open_sender('/devices/pump/messages/events');
    const beyondAllDates = { absolute_expiry_time: 9e15 as never, body: 'x' };
    const withoutText = { application_properties: { map: { toString: 'x' } }, body: 'x' };
    const message = { body: 'x' };
    for (const each of [message, message, message, message, beyondAllDates, withoutText])
      expect(await outcomeOf(sender, each)).toBe('accepted');
    expect(hub.counters().appended).toBe(6);
  });
  test('rejects late what it fails to take in', () => {
    const answers = { accept: vi.fn(), reject: vi.fn() };
    const fail = () => {
      throw new TypeError('a defect');
    };
    const arrival = { kind: 'd2c', deviceId: 'pump', connection: {} as Connection } as const;
    answer(createStandingFaults(), arrival, fail, answers);
    expect(answers.accept).not.toHaveBeenCalled();
    expect(answers.reject).toHaveBeenCalledWith('amqp:internal-error', expect.any(String));
  });
  test('refuses late what a device sent over HTTPS that is gone by then', async () => {
    const gone = new Refusal('amqp:not-found', 'There is no device of this id.');
    const hub = {
      throttle: { shape: (_: string, proceed: () => void) => setTimeout(proceed) },
      events: {
        accept() {
          throw gone;
        },
      },
    };
    const asked = { hub, login: {}, request: { headers: {}, rawHeaders: [] }, body: Buffer.alloc(1) } as never;
    const send = deviceRoutes.find(({ method }) => method === 'POST');
    await expect(send?.handle(asked)).rejects.toBe(gone);
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
  test('refuses devices that connect too fast as server unavailable', async () => {
    const hub = await start({ rates: { connect: 1 } });
    await connectedDevice(hub, 'pump');
    const second = await rawDevice(hub);
    second.send(connectPacket(hub, 'pump'));
    expect((await second.next('connack')).returnCode).toBe(3);
    await second.closed;
  });
  test('refuses links that are opened too fast', async () => {
    const hub = await start({ rates: { connect: 1 } });
    const service = await openService(hub);
    await service.send('pump', serviceMessage('x'));
    const second = await openService(hub);
    expect(await nameOfError(second.send('pump', serviceMessage('x')))).toBe('ThrottlingError');
  });
});

// Messages that are larger than the size that the hub announces for each link.

const devices = [{ deviceId: 'pump-1' }];
const start = (options: Parameters<typeof hubForTest>[0] = {}) =>
  hubForTest({ devices, partitions: 1, ownerMaySend: true, ...options });
const message = (bytes: number) => ({ body: rhea.message.data_section(Buffer.alloc(bytes)) });
const tooLarge =
  /The received message \(delivery-id:\d+, size:\d+ bytes\) exceeds the limit \(1048576 bytes\) currently allowed on the link\./;

test('the official producer learns that an event is too large, and keeps its link', async () => {
  const hub = await start();
  const producer = eventProducer(hub);
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

describe('options', () => {
  // What programs without types write is refused with a sentence.

  const hub = hubForAll();

  test.each<[object, string]>([
    [{ partition: 4 }, 'there is no option partition'],
    [{ directory: 1 }, 'directory takes a text'],
    [{ partitions: 0 }, 'partitions is at least 1'],
    [{ partitions: '4' }, 'partitions takes a whole number'],
    [{ ports: { ampqs: 5671 } }, 'there is no option ports.ampqs'],
    [{ ports: { amqp: 65_536 } }, 'ports.amqp is at most 65535'],
    [{ devices: ['pump-1'] }, 'devices.0 takes a JSON object'],
    [{ rules: { tier: 'S4' } }, 'rules.tier takes S1, S2, S3'],
    [{ rules: { bounds: { jornal: 1 } } }, 'there is no option rules.bounds.jornal'],
    [{ sources: ['weather'] }, 'sources.0 takes '],
  ])('the options %j are refused: %s', async (wrong, sentence) => {
    const started = startHub({ directory: '/nowhere', ...wrong } as never);
    await expect(started).rejects.toThrow(`The hub cannot start so: ${sentence}`);
  });
  test('a fault that is none is refused in the words of the admin port, also in code', async () => {
    const wrong = { kind: 'drop', how: 'slowly' } as never;
    const sentence =
      'That is no fault: how takes fin, rst. All kinds and their fields: GET /faults/kinds of the admin port';
    expect(() => hub.faults.strike(wrong)).toThrow(sentence);
    expect(() => hub.faults.add({ kind: 'no-credit', link: 'up' } as never)).toThrow('link takes c2d, d2c, events');
    await expect(hub.faults.ask(wrong)).rejects.toThrow(sentence);
    expect(hub.faults.list()).toEqual([]);
  });
});
