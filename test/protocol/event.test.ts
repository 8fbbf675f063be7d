import { describe, expect, it } from 'vitest';
import { classify, derivedId, eventId, senderOf, whyNotOurs } from '../../src/protocol/event.ts';
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
      const event = hubEvent({
        properties: { msgType: 'action' },
        systemProperties: { 'iothub-message-source': source },
      });
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
  expect(classify(bare)).toBeUndefined();
  expect(senderOf(bare)).toBeUndefined();
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
