import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { messageIdAt } from './places.ts';
import { type Circumstances, flawsOf, type Seen } from './replyForm.ts';
import type { Message } from './sealed.ts';

const objectId = '14808a55-9bf6-568e-833e-502bd4eab4f5';
const subject = { objectId, model: 'svc.device' };
const settings = { model: 'svc.configuration', success: true, code: 'ok', details: '' };
const place = { hub: 'hub-1', partition: '2', sequenceNumber: 3, enqueuedTime: Date.parse('2026-11-22T20:41:23.000Z') };
const calm: Circumstances = { answers: [], createdId: undefined, isTroubled: false, places: [place], clockErrors: [] };

function v2(action: string, said: unknown, properties: Record<string, string> = {}): Message {
  const common = { msgType: 'action', action, version: '2', correlationId: 'm-1', target: 'module-0' };
  return messageOf(said, { ...common, ...properties });
}
const v1 = (eventType: string, said: unknown, properties: Record<string, string> = {}): Message =>
  messageOf(said, { 'svc-messagetype': 'platformEvent', eventType, id: 'm-1', ...properties });

function messageOf(said: unknown, properties: Record<string, string>): Message {
  const intent = { does: 'identify' } as const; // of no importance to acknowledgements
  return { id: 'm-1', deviceId: 'd-1', ack: 'all', intent, properties, said, body: Buffer.from(JSON.stringify(said)) };
}

const system = {
  ...{ correlationId: 'm-1', to: '/devices/d-1/messages/devicebound', contentType: 'application/json' },
  contentEncoding: 'utf-8',
};
const reply = (properties: Record<string, string>, body: unknown, about = 'acknowledgement'): Seen => ({
  ...{ deviceId: 'd-1', system: { ...system, messageId: messageIdAt(place, 'd-1', about) }, properties },
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  time: Date.parse('2026-11-22T20:41:23.900Z'),
});
const ackV2 = (action: string, body: object, properties = {}) =>
  reply(
    {
      ...{ msgType: 'ack', action, version: '2', correlationId: 'm-1', target: 'module-0' },
      ...{ timestamp: '2026-11-22T20:41:23.718Z', ...properties },
    },
    body,
  );
const ackV1 = (eventType: string, body: object, properties = {}) =>
  reply({ 'svc-messagetype': 'platformEventAck', eventType, id: 'm-1', ...properties }, body);
const ok = { success: true, code: 'ok', details: '' };
const refused = { success: false, code: 'http_response_error', details: 'information model: not found' };
const model = { ...subject, type: 'pump@1.0.0', properties: {}, version: 3 };

const cases: readonly (readonly [name: string, Message, Seen])[] = [
  [
    'model.create',
    v2('model.create', { objectId, type: 'pump@1' }),
    ackV2('model.create', { ...ok, relatedModels: [settings], objectId }),
  ],
  [
    'Svc.Device.Updated that is refused',
    v1('Svc.Device.Updated', { version: 2 }, subject),
    ackV1('Svc.Device.Updated', { ...refused, version: 2 }, subject),
  ],
];

describe('The form of', () => {
  it.each(cases)(
    'the acknowledgement of %s is right, and nothing in it can be another, missing or too much',
    (_, message, right) => {
      const flaws = (seen: Seen) => flawsOf(seen, message, calm);
      expect(flaws(right)).toEqual([]);
      const body: Record<string, unknown> = JSON.parse(right.body.toString());
      for (const name of Object.keys(right.properties))
        expect(flaws({ ...right, properties: { ...right.properties, [name]: 'another' } })).not.toEqual([]);
      for (const name of Object.keys(body)) {
        if (name === 'code') continue; // which one is due is not a matter of form
        expect(flaws({ ...right, body: Buffer.from(JSON.stringify({ ...body, [name]: 4711 })) })).not.toEqual([]);
        expect(flaws({ ...right, body: Buffer.from(JSON.stringify({ ...body, [name]: undefined })) })).not.toEqual([]);
      }
      for (const name of Object.keys(right.system))
        expect(flaws({ ...right, system: { ...right.system, [name]: 'another' } })).not.toEqual([]);
      expect(flaws({ ...right, properties: { ...right.properties, more: '1' } })).not.toEqual([]);
      expect(flaws({ ...right, deviceId: 'd-2' })).not.toEqual([]);
    },
  );
  it('an acknowledgement is compressed where the request was, by gzip alone', () => {
    const packed = (body: object) => gzipSync(JSON.stringify(body)).toString('base64');
    const asked = v2('reference.create', [], { ...subject, 'content-encoding': 'gzip' });
    const plain = ackV2('reference.create', ok);
    const right = {
      ...plain,
      system: { ...plain.system, contentType: 'text/plain' }, // C3
      properties: { ...plain.properties, 'content-encoding': 'gzip' },
    };
    expect(flawsOf({ ...right, body: Buffer.from(packed(ok)) }, asked, calm)).toEqual([]);
    expect(flawsOf(plain, asked, calm)).not.toEqual([]);
    expect(flawsOf(plain, v2('reference.create', [], { 'content-encoding': 'deflate' }), calm)).toEqual([]);
  });
  it('the id of a reply is derived from the event and from what the reply says', () => {
    expect(messageIdAt(place, 'd-1', 'acknowledgement')).toBe('c678bc00-717a-581a-9a4f-be8ea4c7230a');
    const message = v2('reference.create', [], subject);
    const failed = { ...refused, code: 'timeout_exceeded' };
    const of = (about: string) =>
      flawsOf({ ...reply({}, failed, about), properties: ackV2('reference.create', failed).properties }, message, calm);
    expect(of('failed acknowledgement')).toEqual([]);
    expect(of('acknowledgement')).not.toEqual([]);
    const places = [{ ...place, sequenceNumber: 4 }];
    expect(flawsOf(ackV2('reference.create', ok), message, { ...calm, places })).not.toEqual([]);
    expect(flawsOf(ackV2('reference.create', ok), message, { ...calm, places: [...places, place] })).toEqual([]);
  });
  it.each([
    ['before the message', '22.997', []],
    ['after the reply', '23.903', []],
    ['before the message by a clock that was right', '22.997', [60_000]],
  ])('an acknowledgement does not come %s', (_, seconds, clockErrors) => {
    const seen = ackV2('reference.create', ok, { timestamp: `2026-11-22T20:41:${seconds}Z` });
    expect(flawsOf(seen, v2('reference.create', [], subject), { ...calm, clockErrors })).not.toEqual([]);
  });
  it('an acknowledgement has the time of a clock that was set', () => {
    const seen = ackV2('reference.create', ok, { timestamp: '2026-11-22T20:42:23.500Z' });
    expect(flawsOf(seen, v2('reference.create', [], subject), calm)).not.toEqual([]);
    expect(flawsOf(seen, v2('reference.create', [], subject), { ...calm, clockErrors: [60_000] })).toEqual([]);
  });
  it('related models may differ when a fault or a repeat came between', () => {
    const message = v2('model.create', { objectId, type: 'pump@1' });
    const seen = ackV2('model.create', { ...ok, relatedModels: [], objectId });
    expect(flawsOf(seen, message, calm)).not.toEqual([]);
    expect(flawsOf(seen, message, { ...calm, isTroubled: true })).toEqual([]);
  });

  describe('a notification', () => {
    const created = { 'svc-messagetype': 'platformEvent', eventType: 'Svc.InformationModel.ObjectModelCreated' };
    const message = v1('Svc.Device.Created', { objectId, type: 'pump@1' }, { target: 'module-0' });
    const text = JSON.stringify(model);
    const right = reply(
      { ...created, id: 'm-1', ...subject, target: 'module-0' },
      text,
      `about svc.device of ${objectId}`,
    );
    it('has the bytes of a backend, without the related models beside them', () => {
      expect(flawsOf(right, message, { ...calm, answers: [text] })).toEqual([]);
      expect(flawsOf(right, message, { ...calm, answers: [JSON.stringify({ ...model, relatedModels: [] })] })).toEqual(
        [],
      );
      expect(flawsOf(right, message, { ...calm, answers: [text.replace('"version":3', '"version":4')] })).not.toEqual(
        [],
      );
    });
    it('has the target of the request; that of a subscription is sent to the owner', () => {
      const circumstances = { ...calm, answers: [text, text.replace('svc.device', 'svc.configuration')] };
      const { target: _, ...untargeted } = right.properties;
      const at = (target: Record<string, string>, about: string) =>
        flawsOf(
          reply(
            { ...untargeted, model: about, ...target },
            text.replace('svc.device', about),
            `about ${about} of ${objectId}`,
          ),
          message,
          circumstances,
        );
      expect(at({}, 'svc.device')).not.toEqual([]);
      expect(at({}, 'svc.configuration')).toEqual([]);
      expect(at({ target: '' }, 'svc.configuration')).not.toEqual([]); // P4
      expect(at({ target: 'module-0' }, 'svc.configuration')).not.toEqual([]);
    });
  });
});
