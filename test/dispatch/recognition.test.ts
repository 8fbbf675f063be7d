import { describe, expect, it } from 'vitest';
import type { BackendName } from '../../src/backends/backends.ts';
import { bytesToReserveFor, createDependencies, createReceivedMessages } from '../../src/dispatch/recognition.ts';
import { catalogue } from '../../src/messages/index.ts';
import { createLog } from '../../src/observing/log.ts';
import { createMeter, summaryOf } from '../../src/observing/metrics.ts';
import { createTaps, type TapEvent, type Taps } from '../../src/observing/taps.ts';
import { bytesToReserve } from '../../src/protocol/body.ts';
import { type Generation, type HubEvent, undecodedProperties } from '../../src/protocol/event.ts';
import { messageLimits } from '../../src/settings/constants.ts';
import { hubEvent, requestProperties } from '../support/events.ts';
import { readingOf } from '../support/observed.ts';

function receivedMessages(taps?: Taps) {
  const lines: string[] = [];
  const meter = createMeter();
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  return {
    receivedMessageOf: createReceivedMessages('hub', meter, log, taps)('3'),
    meter,
    counted: () => summaryOf(meter),
    logged: () => lines.map((line) => JSON.parse(line)),
  };
}

const nothing = summaryOf(createMeter());

const ours = { msgType: 'action', action: 'model.create', version: 2 };

it('a message for this service belongs to the device that the hub names', () => {
  const { receivedMessageOf, meter, counted, logged } = receivedMessages();
  const event = hubEvent({ properties: { ...ours, MsgType: 'action' } });
  expect(receivedMessageOf(event, true)).toEqual({
    ...{ event, generation: 'V2', deviceId: 'd1' },
    ...{ origin: { hub: 'hub', partition: '3' }, redelivered: true },
  });
  expect([counted(), logged()]).toEqual([nothing, []]);
  expect(readingOf(meter, 'messaging.client.consumed.messages')).toEqual({ message: 1 });
});

it('events that are not for this service are counted, and not logged', () => {
  const { receivedMessageOf, counted, logged } = receivedMessages();
  expect(receivedMessageOf(hubEvent({ properties: { temperature: 21 } }), false)).toBeUndefined();
  expect([counted(), logged()]).toEqual([{ ...nothing, skipped: 1 }, []]);
});

it('a tap on a device shows why its message is skipped', () => {
  const taps = createTaps();
  const told: TapEvent[] = [];
  taps.open({ device: 'd1', follow: (event) => told.push(event) });
  const { receivedMessageOf } = receivedMessages(taps);
  receivedMessageOf(hubEvent({ properties: { temperature: 21 } }), false);
  receivedMessageOf({ ...hubEvent(), body: undecodedProperties }, false);
  receivedMessageOf(hubEvent({ properties: ours }), false);
  const place = { stage: 'skipped', device: 'd1', partition: '3', sequenceNumber: 7 };
  expect(told).toMatchObject([
    { ...place, why: expect.stringContaining('msgType') },
    { ...place, why: 'its properties cannot be decoded' },
  ]);
  expect(told).toHaveLength(2);
});

it('a message without a sender is skipped with a warning', () => {
  const { receivedMessageOf, counted, logged } = receivedMessages();
  expect(
    receivedMessageOf(hubEvent({ properties: ours, systemProperties: { 'iothub-connection-device-id': '' } }), false),
  ).toBeUndefined();
  expect(counted()).toEqual({ ...nothing, unattributed: 1 });
  expect(logged()).toMatchObject([{ level: 'warn', partition: '3', sequenceNumber: 7 }]);
});

it.each([{ properties: ours }, {}])('an event with undecodable properties is skipped with a warning', (given) => {
  const { receivedMessageOf, counted, logged } = receivedMessages();
  const event = { ...hubEvent(given), body: undecodedProperties };
  expect(receivedMessageOf(event, false)).toBeUndefined();
  expect(counted()).toEqual({ ...nothing, undecodable: 1 });
  expect(logged()).toMatchObject([
    { level: 'warn', event: 'message.undecodable', partition: '3', sequenceNumber: 7, device: 'd1' },
  ]);
});

it('an event of which nothing can be decoded is skipped with a warning', () => {
  const { receivedMessageOf, counted, logged } = receivedMessages();
  expect(receivedMessageOf({ body: undecodedProperties } as HubEvent, false)).toBeUndefined();
  expect(counted()).toEqual({ ...nothing, undecodable: 1 });
  expect(logged()).toMatchObject([{ level: 'warn', event: 'message.undecodable', partition: '3' }]);
});

it.each([[{ ...ours, msgType: 'Action' }], [{ action: 'model.create', MsgType: 'action' }]])(
  'a message that is not for this service because of the case of a letter is counted, with a hint at debug: %j',
  (properties) => {
    const { receivedMessageOf, counted, logged } = receivedMessages();
    expect(receivedMessageOf(hubEvent({ properties }), false)).toBeUndefined();
    expect(counted()).toEqual({ ...nothing, skipped: 1, misspellings: 1 });
    expect(logged()).toMatchObject([
      { level: 'debug', partition: '3', sequenceNumber: 7, device: 'd1', hint: expect.stringContaining('msgType') },
    ]);
  },
);

it('a message for this service with a property name that begins with a question mark also has a hint', () => {
  const { receivedMessageOf, counted, logged } = receivedMessages();
  expect(receivedMessageOf(hubEvent({ properties: { ...ours, '?ack': 'all' } }), false)).toMatchObject({
    deviceId: 'd1',
  });
  expect(counted()).toEqual({ ...nothing, misspellings: 1 });
  expect(logged()).toMatchObject([{ level: 'debug', hint: expect.stringContaining('begins with ?') }]);
});

function setUp() {
  const out = new Set<BackendName>();
  const ready = (needs: readonly BackendName[]) =>
    needs.some((name) => out.has(name)) ? Promise.resolve(false) : undefined;
  const dependenciesOf = createDependencies({ ready, isUp: (name) => !out.has(name) }, messageLimits);
  const of = (properties: Readonly<Record<string, unknown>>, generation: Generation = 'V2') =>
    dependenciesOf({
      ...{ event: hubEvent({ properties }), generation, deviceId: 'd1' },
      ...{ origin: { hub: 'hub', partition: '0' }, redelivered: false },
    });
  return { out, of };
}

const action = (name: unknown) => ({ msgType: 'action', action: name, version: '2', correlationId: 'c' });
const never = new AbortController().signal;

describe('the required backends of a message', () => {
  it.each(catalogue)('are those of its card: $name', ({ name, generation, needs }) => {
    const { out, of } = setUp();
    const dependencies = of(generation === 'V2' ? action(name) : { eventType: name }, generation);
    for (const backend of ['informationModel', 'typeRegistry', 'principalManager'] as const) {
      out.clear();
      expect(dependencies?.areAvailable()).toBe(true);
      out.add(backend);
      expect(dependencies?.areAvailable()).toBe(!needs.includes(backend));
    }
  });

  it('can be awaited, with either result', async () => {
    const { out, of } = setUp();
    const dependencies = of(action('model.update'));
    expect(await dependencies?.met(never)).toBe(true);
    out.add('informationModel');
    expect(await dependencies?.met(never)).toBe(false);
  });

  it('are one shared object for equal requirements, so that messages begin in order', () => {
    const { of } = setUp();
    expect(of(action('model.update'))).toBe(of(action('reference.create')));
    expect(of(action('model.update'))).not.toBe(of(action('identity.update')));
  });

  it.each([
    ['an unknown one', action('model.invent')],
    ['one without a name', { msgType: 'action' }],
    ['one whose name is no text', action(7)],
    ['one that is named like what every object has', action('constructor')],
    ['one that is refused without any backend', { ...action('model.update'), version: '3' }],
  ])('are none for %s, which is answered even if all backends are out', (_, properties) => {
    const { out, of } = setUp();
    for (const name of ['informationModel', 'typeRegistry', 'principalManager'] as const) out.add(name);
    expect(of(properties)?.areAvailable() ?? true).toBe(true);
  });
});

it.each(catalogue)('what a message may keep of answers is reserved before it starts: $name', (card) => {
  const { name, generation, keeps } = card;
  const event = hubEvent({ properties: requestProperties[generation](name) });
  expect(bytesToReserveFor(event, messageLimits.maxInflatedBytes)).toBe(
    bytesToReserve(event, messageLimits.maxInflatedBytes) + keeps,
  );
});

it('nothing is reserved for answers to what is no message of the catalogue', () => {
  const event = hubEvent({ properties: requestProperties.V2('model.invent') });
  expect(bytesToReserveFor(event, messageLimits.maxInflatedBytes)).toBe(
    bytesToReserve(event, messageLimits.maxInflatedBytes),
  );
});
