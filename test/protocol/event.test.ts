import rhea from 'rhea';
import { describe, expect, it } from 'vitest';
import {
  classify,
  compactEvent,
  derivedId,
  eventId,
  memoryOf,
  memoryWhileWaiting,
  misspellingIn,
  propertyBytes,
  senderOf,
  textless,
  textProperties,
  whyNotOurs,
} from '../../src/protocol/event.ts';
import { hubEvent } from '../support/events.ts';

describe('the classification by two properties', () => {
  it.each([
    [{ msgType: 'action' }, 'V2'],
    [{ msgType: 'action', 'svc-messagetype': 'platformEvent' }, 'V2'],
    [{ msgType: 'ack', 'svc-messagetype': 'platformEvent' }, undefined],
    [{ msgType: '', 'svc-messagetype': 'platformEvent' }, undefined],
    [{ 'svc-messagetype': 'platformEvent', eventType: 'Svc.Device.Created' }, 'V1'],
    [{ 'svc-messagetype': 'platformEvent' }, 'V1'],
    [{ 'svc-messagetype': 'platformEvent', eventType: 'Svc.InformationModel.ObjectModelUpdated' }, undefined],
    [{ 'svc-messagetype': 'platformEventAck' }, undefined],
    [{ MsgType: 'action' }, undefined],
    [{ temperature: 21 }, undefined],
    [{}, undefined],
  ])('%j is %s {S1.3 S1.6 S2.2 S3.2}', (properties, generation) =>
    expect(classify(hubEvent({ properties }))).toBe(generation),
  );

  it('never reads the body', () => {
    const event = { ...hubEvent({ properties: { msgType: 'telemetry' } }) };
    Object.defineProperty(event, 'body', {
      get() {
        throw new Error('touched');
      },
    });
    expect(classify(event)).toBeUndefined();
  });

  it.each(['twinChangeEvents', 'deviceLifecycleEvents', 'deviceJobLifecycleEvents', 'deviceConnectionStateEvents'])(
    'skips %s, which devices do not send {S1.3}',
    (source) => {
      const given = { properties: { msgType: 'action' }, systemProperties: { 'iothub-message-source': source } };
      const event = hubEvent(given);
      expect(classify(event)).toBeUndefined();
    },
  );

  it('reads events without a message source', () =>
    expect(classify({ ...hubEvent({ properties: { msgType: 'action' } }), systemProperties: {} })).toBe('V2'));
  it('ignores a polluted prototype of the property bag', () =>
    expect(classify(hubEvent({ properties: Object.create({ msgType: 'action' }) }))).toBeUndefined());
});

it('an event without property bags is not for this service, and has no sender', () => {
  const { properties: _, systemProperties: __, ...bare } = hubEvent({});
  expect([classify(bare), senderOf(bare)]).toEqual([undefined, undefined]);
});

describe('the reason why an event is not for this service', () => {
  const platformEvent = { 'svc-messagetype': 'platformEvent', eventType: 'Svc.InformationModel.X' };
  it.each([
    ['iothub-message-source is not Telemetry', { msgType: 'ack' }, 'twinChangeEvents'],
    ['msgType is not action', { msgType: 'ack', ...platformEvent }, 'Telemetry'],
    ['msgType is not action', { msgType: '' }, undefined],
    ['neither msgType is action, nor svc-messagetype is platformEvent', { temperature: 21 }, undefined],
    ['neither msgType is action, nor svc-messagetype is platformEvent', {}, undefined],
    ['eventType begins with Svc.InformationModel.', platformEvent, undefined],
  ])('%s: %j from %s', (why, properties, source) => {
    const event = hubEvent({ properties });
    const { 'iothub-message-source': _, ...others } = event.systemProperties ?? {};
    const systemProperties = source === undefined ? others : { ...others, 'iothub-message-source': source };
    expect(whyNotOurs({ ...event, systemProperties })).toBe(why);
  });
});

describe('the sender', () => {
  it('is the hub’s system property {S2.1 S19.1}', () => expect(senderOf(hubEvent({ device: 'd1' }))).toBe('d1'));
  it.each(['', 5, null])('is missing when the stamp is %j', (stamp) =>
    expect(senderOf({ ...hubEvent({}), systemProperties: { 'iothub-connection-device-id': stamp } })).toBeUndefined(),
  );
  it('is never taken from application properties {S2.1 S19.1}', () => {
    const event = hubEvent({ device: undefined, properties: { 'iothub-connection-device-id': 'forged' } });
    expect(senderOf({ ...event, systemProperties: {} })).toBeUndefined();
  });
});

describe('derived ids', () => {
  const origin = { hub: 'hub', partition: '0' };

  it('are the same for the same event, however often it is delivered', () =>
    expect(eventId(hubEvent(), origin, 'd1')).toBe(eventId(hubEvent(), origin, 'd1')));

  it('differ with hub, partition, sequence number, enqueued time and device {S9.11}', () => {
    const ids = [
      eventId(hubEvent(), origin, 'd1'),
      eventId(hubEvent(), { ...origin, hub: 'other' }, 'd1'),
      eventId(hubEvent(), { ...origin, partition: '1' }, 'd1'),
      eventId(hubEvent({ sequenceNumber: 8 }), origin, 'd1'),
      eventId({ ...hubEvent(), enqueuedTimeUtc: new Date(0) }, origin, 'd1'),
      eventId(hubEvent(), origin, 'd2'),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('are version 5 GUIDs, one for each purpose', () => {
    const id = eventId(hubEvent(), origin, 'd1');
    expect(derivedId(id, 'object')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(derivedId(id, 'object')).not.toBe(derivedId(id, 'reply 0'));
  });
});

const misspelling = (properties: Readonly<Record<string, unknown>>, isOurs = false) =>
  misspellingIn(hubEvent({ properties, body: {} }), isOurs);

describe('a misspelt property name', () => {
  it.each([
    [{ msgtype: 'action' }, 'msgType'],
    [{ MSGTYPE: 'ACTION' }, 'msgType'],
    [{ msgType: 'Action' }, 'msgType'],
    [{ 'Svc-MessageType': 'platformEvent' }, 'svc-messagetype'],
    [{ 'svc-messagetype': 'platformevent' }, 'svc-messagetype'],
    [{ temperature: 21, 'svc-messageType': 'PlatformEvent' }, 'svc-messagetype'],
  ])('is %j {S1.3}', (properties, meant) =>
    expect(misspelling(properties)).toMatch(new RegExp(`^property ${meant} must be spelt like this`)),
  );

  it.each([[{ '?msgType': 'action' }], [{ '?temperature': 21 }], [{ a: 1, '?': '' }]])(
    'is a question mark before a name, of our messages too: %j',
    (properties) => {
      const hint = 'a property name begins with ?, which is then part of the name: leave it out';
      expect([misspelling(properties), misspelling(properties, true)]).toEqual([hint, hint]);
    },
  );

  it.each([
    [{}],
    [{ temperature: 21, 'what?': 1 }],
    [{ msgType: 'telemetry' }],
    [{ msgtype: 'telemetry' }],
    [{ msgtype: 7 }],
    [{ messagetype: 'action' }],
    [{ battery: 'action', 'indoor-humidity': 'platformEvent' }],
    [{ 'svc-messagetype': 'platformEventAck' }],
    [{ 'svc-messagetype': 'platformEvent', eventType: 'Svc.InformationModel.ObjectModelUpdated' }],
  ])('does not include %j', (properties) => expect(misspelling(properties)).toBeUndefined());

  it('is not searched by letter case in a message for this service', () =>
    expect(misspelling({ msgType: 'action', msgtype: 'action' }, true)).toBeUndefined());
  it('is absent in a message without properties', () =>
    expect(
      misspellingIn({ ...hubEvent({ properties: {}, body: {} }), properties: undefined } as never, false),
    ).toBeUndefined());
});

it('typed values have the meaning of their text', () => {
  const given = { text: '2', number: 2, fraction: -1.5, boolean: true, nothing: null, bytes: textless('binary') };
  expect({ ...textProperties(given) }).toEqual({ text: '2', number: '2', fraction: '-1.5', boolean: 'true' });
});

it('names of Object.prototype are ordinary names {S2.9}', () => {
  const properties = textProperties(JSON.parse('{"__proto__":"a","constructor":"b"}'));
  expect(Object.getPrototypeOf(properties)).toBeNull();
  expect([Object.keys(properties), properties['toString']]).toEqual([['__proto__', 'constructor'], undefined]);
});

it('the size is that of names and values in UTF-8', () =>
  expect(propertyBytes(textProperties({ ab: 'c', ü: '€' }))).toBe(3 + 5));

const chunk = Buffer.alloc(64 * 1024, 'x');
const bodyOf = (body: unknown) => compactEvent({ ...hubEvent(), body }).body;

describe('the body of an event of ours', () => {
  it.each([0, 60, 32 * 1024 - 1])('of %i bytes does not keep the chunk of which it was a part', (bytes) => {
    const body = bodyOf(chunk.subarray(100, 100 + bytes)) as Uint8Array;
    expect([body.byteLength, body.buffer.byteLength, Buffer.isBuffer(body)]).toEqual([bytes, bytes, true]);
    expect(Buffer.compare(body, chunk.subarray(100, 100 + bytes))).toBe(0);
  });

  it.each([32 * 1024, 60_000])('of %i bytes, half of its chunk or more, is not copied', (bytes) => {
    const body = chunk.subarray(0, bytes);
    expect(bodyOf(body)).toBe(body);
  });

  it.each([undefined, null, 'text', [chunk.subarray(0, 60)], { a: 1 }])('that is %j stays as it is', (body) =>
    expect(bodyOf(body)).toBe(body),
  );
});

it('what the client keeps beside an event is left, and what belongs to it stays', () => {
  const event = { ...hubEvent({ properties: { a: 1 } }), getRawAmqpMessage: () => chunk, contentType: 'text' };
  const { getRawAmqpMessage: _, contentType: _type, ...ours } = event;
  expect(compactEvent(event)).toEqual(ours);
  const { properties: _properties, systemProperties: _system, ...bare } = ours;
  expect(compactEvent(bare)).toEqual(bare);
});

describe('the memory of', () => {
  /** As the client hands it over: slices of one chunk. */
  const decoded = (body: unknown) => rhea.message.decode(rhea.message.encode({ body }) as Buffer).body;
  const list = Array.from({ length: 16 }, (_, index) => 'x'.repeat(10_000 + index));
  it.each<readonly [what: string, value: unknown, least: number, most: number]>([
    ['text', 'x'.repeat(1_000), 1_000, 2_100],
    ['a list of texts', decoded(list), 160_000, 322_000],
    ['a map of texts', decoded(Object.fromEntries(list.entries())), 160_000, 323_000],
    ['an array in a list', [[list]], 160_000, 323_000],
    ['one data section', Buffer.alloc(1_000), 1_000, 1_100],
    ['several data sections, each of its own', list.map((text) => Buffer.alloc(text.length)), 160_000, 162_000],
    ['several slices of one chunk', list.map((_, index) => chunk.subarray(index, index + 1)), 65_536, 67_000],
    ['many small values', Array.from({ length: 4_096 }, () => null), 32_768, 40_000],
    ['many properties', Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [index, true])), 8_000, 20_000],
    ['nothing', undefined, 0, 0],
  ])('%s is what it holds, at most twice', (_, value, least, most) => {
    expect(memoryOf(value)).toBeGreaterThanOrEqual(least);
    expect(memoryOf(value)).toBeLessThanOrEqual(most);
  });

  it('a message that waits includes body, properties, what the hub has stamped, and its places', () => {
    const text = 'x'.repeat(10_000);
    const event = { ...hubEvent({ properties: { text }, systemProperties: { messageId: text } }), body: [text] };
    const bare = { ...event, body: null, properties: {}, systemProperties: {} };
    expect(memoryWhileWaiting(event) - memoryWhileWaiting(bare)).toBeGreaterThan(30_000);
    expect(memoryWhileWaiting(bare)).toBeGreaterThan(500);
  });
});
