import { createHash, randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createEnvelopeReader } from '../../src/protocol/envelope.ts';
import { textProperties } from '../../src/protocol/event.ts';
import {
  acknowledge,
  contentTypeOf,
  fits,
  maxReplyBytes,
  notify,
  type Reply,
  sizeOf,
  systemCorrelationId,
} from '../../src/protocol/reply.ts';

const reply: Reply = {
  ...{ kind: 'acknowledgement', deviceId: 'pump 1', messageId: '0123456789', correlationId: undefined },
  ...{ properties: {}, body: '' },
};
// to, message id, content type, content encoding (C3)
const least = '/devices/pump%201/messages/devicebound'.length + 10 + 'application/json'.length + 'utf-8'.length;

describe('the size of a reply, as counted by the hub,', () => {
  it('includes the system properties', () => {
    expect(sizeOf(reply)).toBe(least);
    expect(sizeOf({ ...reply, correlationId: 'abc' })).toBe(least + 3);
  });
  it('includes names and values of all properties, and the body, in bytes', () => {
    expect(sizeOf({ ...reply, properties: { größe: 'ü', b: '' } })).toBe(least + 7 + 2 + 1);
    expect(sizeOf({ ...reply, body: '"ü"' })).toBe(least + 4);
  });
});

describe('the system correlation id', () => {
  it.each(['x', '~ ', 'x'.repeat(128)])('is the request’s: %j', (id) => expect(systemCorrelationId(id)).toBe(id));
  it.each([undefined, '', 'ü', 'a\n', '\u007f', 'x'.repeat(129)])('is left out for %j', (id) =>
    expect(systemCorrelationId(id)).toBeUndefined(),
  );
});

const empty: Reply = {
  ...{ kind: 'acknowledgement', deviceId: '', messageId: '', correlationId: undefined, properties: {} },
  body: '',
};

it.each<[string, Partial<Reply>]>([
  ['body alone', {}],
  ['id', { messageId: 'x'.repeat(10_000) }],
  ['correlation id', { correlationId: 'x'.repeat(10_000) }],
  ['device', { deviceId: 'x'.repeat(10_000) }],
  ['property name', { properties: { ['x'.repeat(10_000)]: '' } }],
  ['property value', { properties: { x: 'x'.repeat(10_000) } }],
])('a reply fits up to exactly the limit, with most bytes in %s', (_what, given) => {
  const reply = { ...empty, ...given };
  const room = maxReplyBytes - sizeOf(reply);
  const body = '€'.repeat(Math.floor(room / 3)) + 'x'.repeat(room % 3);
  expect([body, `${body}€`].map((text) => fits({ ...reply, body: text }))).toEqual([true, false]);
});

const eventId = '6f9619ff-8b86-5011-b42d-00cf4fc964ff';
const now = new Date('2026-01-02T03:04:05.678Z');
const read = createEnvelopeReader({ defaultTimeoutSeconds: 300 });
const ofAction = { msgType: 'action', action: 'model.create', version: 2, correlationId: 'c1' };
const v2 = (properties: Record<string, unknown> = {}) =>
  read('V2', textProperties({ ...ofAction, ...properties }), 'd1', eventId).envelope;
const ofEvent = { 'svc-messagetype': 'platformEvent', eventType: 'Svc.Device.Created', id: 'i1' };
const v1 = () => read('V1', textProperties(ofEvent), 'd1', eventId).envelope;
const result = { success: true, code: 'ok', details: '', fields: {}, properties: {}, detailsKey: 'details' } as const;
const noise = (bytes: number) => randomBytes(bytes).toString('base64');

const limits = (integer: bigint) => [integer - 1n, integer, integer + 1n, integer + 2n];

describe('a V2 acknowledgement', () => {
  it('has these properties and no others {S2.2 S8.1}', () => {
    const reply = acknowledge(v2({ target: 'edge' }), { ...result, fields: { objectId: 'o1' } }, now);
    expect(reply.properties).toEqual({
      ...{ msgType: 'ack', action: 'model.create', version: '2', correlationId: 'c1', target: 'edge' },
      timestamp: '2026-01-02T03:04:05.678Z',
    });
    expect(reply.body).toBe('{"success":true,"code":"ok","details":"","objectId":"o1"}');
    expect(reply).toMatchObject({ deviceId: 'd1', correlationId: 'c1' });
  });

  it('leaves out the correlationId the request did not have', () => {
    const reply = acknowledge(v2({ correlationId: undefined }), result, now);
    expect(reply.properties).not.toHaveProperty('correlationId');
    expect(reply.correlationId).toBeUndefined();
  });

  it.each(['é', 'two\r\nlines', 'x'.repeat(129)])('has a correlationId like %j as property only', (correlationId) => {
    const reply = acknowledge(v2({ correlationId }), result, now);
    expect(reply.properties['correlationId']).toBe(correlationId);
    expect(reply.correlationId).toBeUndefined();
  });

  it('has a message id derived from the event and its own kind, for any content', () => {
    const { messageId } = acknowledge(v2(), result, now);
    expect(acknowledge(v2(), { ...result, success: false, code: 'delivery_failed' }, now).messageId).toBe(messageId);
    expect(acknowledge({ ...v2(), attempts: 1 }, result, now).messageId).not.toBe(messageId);
    expect(notify(v2(), about).messageId).not.toBe(messageId);
  });

  it.each(['internal_platform_error', 'timeout_exceeded'] as const)(
    'of %s has a message id that differs from that of a later success',
    (code) => {
      const failed = acknowledge(v2(), { ...result, success: false, code }, now);
      expect(failed.messageId).not.toBe(acknowledge(v2(), result, now).messageId);
      expect(acknowledge(v1(), { ...result, success: false, code }, now).messageId).toBe(failed.messageId);
    },
  );

  it('tells the sender of replies whether it reports a failure', () => {
    const failed = acknowledge(v2(), { ...result, success: false, code: 'validation_error' }, now);
    expect(failed).toMatchObject({ kind: 'acknowledgement', isFailure: true });
    expect(acknowledge(v2(), result, now)).not.toHaveProperty('isFailure');
  });

  it('leaves out the action the request did not have', () =>
    expect(acknowledge(v2({ action: undefined }), result, now).properties).not.toHaveProperty('action'));

  it.each([0n, 3n, -3n, ...limits(9_007_199_254_740_991n), ...limits(-9_007_199_254_740_991n), 10n ** 40n])(
    'has integers such as %d with all their digits, and no member without a value',
    (version) => {
      const fields = { version, objectId: undefined, model: null };
      const { body } = acknowledge(v2(), { ...result, fields }, now);
      expect(body).toBe(`{"success":true,"code":"ok","details":"","version":${version},"model":null}`);
    },
  );

  it('is plain at the limit of 65,536 bytes, and compressed one byte beyond {S13.13 S21.1}', () => {
    const empty = sizeOf(acknowledge(v2(), { ...result, fields: { x: '' } }, now));
    const atLimit = acknowledge(v2(), { ...result, fields: { x: 'y'.repeat(maxReplyBytes - empty) } }, now);
    expect(sizeOf(atLimit)).toBe(maxReplyBytes);
    expect(atLimit.properties).not.toHaveProperty('content-encoding');
    const beyond = acknowledge(v2(), { ...result, fields: { x: 'y'.repeat(maxReplyBytes - empty + 1) } }, now);
    expect([beyond.properties['content-encoding'], fits(beyond)]).toEqual(['gzip', true]);
  });

  it('has its details truncated when compression is not enough, then those of the related models', () => {
    const open = ({ body }: { body: string }) => JSON.parse(gunzipSync(Buffer.from(body, 'base64')).toString());
    const cut = acknowledge(v2(), { ...result, details: noise(70_000) }, now);
    expect([fits(cut), open(cut).details.length]).toEqual([true, 256]);

    const one = { model: 'm', success: false, code: 'x' };
    const relatedModels = Array.from({ length: 20 }, () => ({ ...one, details: noise(5_000) }));
    const both = acknowledge(v2(), { ...result, details: noise(70_000), fields: { relatedModels } }, now);
    expect([fits(both), open(both).relatedModels.length]).toEqual([true, 20]);
    expect(open(both).relatedModels[0].details).toHaveLength(64);
  });
});

describe('an acknowledgement that fits', () => {
  const relatedModels = [{ model: 'm', success: false, code: 'x', details: 'r'.repeat(300) }];
  const read = ({ body }: { body: string }) => JSON.parse(body);

  it('has all its details, however long', () => {
    const details = 'd'.repeat(1_000);
    const whole = acknowledge(v1(), { ...result, details, fields: { relatedModels } }, now);
    expect(read(whole)).toEqual({ success: true, code: 'ok', details, relatedModels });
  });

  it('has all details of related models when truncating its own is enough', () => {
    const cut = acknowledge(v1(), { ...result, details: 'd'.repeat(70_000), fields: { relatedModels } }, now);
    expect(read(cut)).toMatchObject({ details: `${'d'.repeat(255)}…`, relatedModels });
  });
});

describe('an acknowledgement with more related models than fit', () => {
  const many = (count: number, details: string) =>
    Array.from({ length: count }, (_, n) => ({
      model: createHash('sha256').update(String(n)).digest('hex').repeat(2),
      success: n % 2 === 0,
      code: 'x',
      details: n % 2 === 0 ? '' : details,
    }));
  const read = ({ body, properties }: { body: string; properties: Readonly<Record<string, string>> }) =>
    JSON.parse(properties['content-encoding'] === 'gzip' ? gunzipSync(Buffer.from(body, 'base64')).toString() : body);

  it.each([
    ['V1', v1()],
    ['V2', v2()],
  ])('has as many as fit, the failed ones first, and the number of the rest: %s', (_, envelope) => {
    const relatedModels = many(3000, 'why');
    const reply = acknowledge(envelope, { ...result, fields: { relatedModels } }, now);
    expect(fits(reply)).toBe(true);
    expect(sizeOf(reply)).toBeGreaterThan(maxReplyBytes - 400);
    const { relatedModels: kept, details } = read(reply);
    const [left, failed] = [3000 - kept.length, 1500 - kept.length];
    expect(details).toBe(`${left} of 3000 related models are left out here, ${failed} of them failed`);
    const failedFirst = [1, 0].flatMap((rest) => relatedModels.filter((_, n) => n % 2 === rest));
    const names = failedFirst.slice(0, kept.length).map(({ model }) => model);
    expect(kept.map(({ model }: { model: string }) => model)).toEqual(names);
  });

  it('states that none of the omitted ones failed', () => {
    const relatedModels = many(1000, '').map((one) => ({ ...one, success: true }));
    const { details, relatedModels: kept } = read(acknowledge(v1(), { ...result, fields: { relatedModels } }, now));
    expect(details).toBe(`${1000 - kept.length} of 1000 related models are left out here, all of them successful`);
    expect(kept.length).toBeGreaterThan(300);
  });

  it('has that number after the reason of a failure', () => {
    const failure = { ...result, success: false, code: 'http_response_error', details: 'no' } as const;
    const reply = acknowledge(v1(), { ...failure, fields: { relatedModels: many(1000, '') } }, now);
    expect(read(reply).details).toMatch(/^no; \d+ of 1000 related models are left out here, \d+ of them failed$/);
  });

  it('has them all when leaving their details empty is enough', () => {
    const failed = { success: false, code: 'x', details: 'd'.repeat(100) };
    const relatedModels = Array.from({ length: 700 }, (_, n) => ({ model: `m${n}`, ...failed }));
    expect(read(acknowledge(v1(), { ...result, fields: { relatedModels } }, now))).toEqual({
      ...{ success: true, code: 'ok', details: '' },
      relatedModels: relatedModels.map((one) => ({ ...one, details: '' })),
    });
  });

  it('does not try them all when no compression could make them fit', () => {
    const one = { model: 'm'.repeat(200), success: true, code: 'ok' };
    const relatedModels = Array.from({ length: 60_000 }, () => ({ ...one, details: randomBytes(8).toString('hex') }));
    const reply = acknowledge(v2(), { ...result, fields: { relatedModels } }, now);
    expect(fits(reply)).toBe(true);
    expect(read(reply).relatedModels.length).toBeLessThanOrEqual((8 * maxReplyBytes) / 200);
  });

  it('cannot be delivered when even without related models it does not fit', () => {
    const fields = { identity: noise(100_000), relatedModels: many(10, '') };
    expect(fits(acknowledge(v2(), { ...result, fields }, now))).toBe(false);
    const unrelated = acknowledge(v1(), { ...result, fields: { identity: fields.identity } }, now);
    expect(JSON.parse(unrelated.body)).toEqual({ success: true, code: 'ok', details: '', identity: fields.identity });
  });
});

it('a compressed acknowledgement is text, as base64 is no JSON {S8.1}', () => {
  expect(contentTypeOf(acknowledge(v2({ 'content-encoding': 'gzip' }), result, now))).toBe('text/plain');
  expect(contentTypeOf(acknowledge(v2(), result, now))).toBe('application/json');
});

it.each([
  ['target', { target: '' }],
  ['name', { name: '' }],
  ['correlation id', { correlationId: '' }],
])('a reply has no property without a value: %s', (_, empty) => {
  for (const envelope of [v1(), v2()].map((one) => ({ ...one, ...empty })))
    for (const reply of [acknowledge(envelope, result, now), notify(envelope, { ...about, target: '' })])
      expect(Object.values(reply.properties)).not.toContain('');
});

describe('a V1 acknowledgement', () => {
  it('leaves out properties that the event did not have', () => {
    const unnamed = { ...v1(), name: undefined, correlationId: undefined };
    expect(acknowledge(unnamed, result, now).properties).toEqual({ 'svc-messagetype': 'platformEventAck' });
  });

  it('is never compressed: its details are truncated instead', () => {
    const reply = acknowledge(v1(), { ...result, details: 'y'.repeat(70_000) }, now);
    expect(reply.properties).not.toHaveProperty('content-encoding');
    expect(JSON.parse(reply.body).details).toHaveLength(256);
  });
});

const envelopeOf = (id?: string, attempts = 0, event = eventId) =>
  read('V1', textProperties({ eventType: 'Svc.Device.SyncModel', id }), 'd1', event, attempts).envelope;

const created = 'Svc.InformationModel.ObjectModelCreated' as const;
const updated = 'Svc.InformationModel.ObjectModelUpdated' as const;
const body = Buffer.from('{}');
const about = { eventType: updated, deviceId: 'd2', target: 'edge', objectId: 'o1', model: 'svc.device', body };

describe('a notification', () => {
  it('has these properties and no others, and goes to the device that it names', () => {
    const reply = notify(envelopeOf('i1'), about);
    expect(reply).toMatchObject({ kind: 'notification', deviceId: 'd2', correlationId: 'i1', body: '{}' });
    expect(reply.properties).toEqual({
      ...{ 'svc-messagetype': 'platformEvent', eventType: updated, id: 'i1' },
      ...{ objectId: 'o1', model: 'svc.device', target: 'edge' },
    });
  });

  it('has no id when the request has none', () =>
    expect(notify({ ...envelopeOf('i1'), correlationId: undefined }, about).properties).not.toHaveProperty('id'));

  it('has a message id derived from the event and the model (C1)', () => {
    const idOf = (more: Partial<Parameters<typeof notify>[1]>, envelope = envelopeOf('i1')) =>
      notify(envelope, { ...about, ...more }).messageId;
    const same = [{}, { objectId: 'O1' }, { eventType: created }, { body: Buffer.from('[]') }].map((one) => idOf(one));
    expect(new Set(same).size).toBe(1);
    const others = [
      ...[{ model: 'svc.configuration' }, { model: 'Svc.device' }, { objectId: 'o2' }].map((one) => idOf(one)),
      ...[envelopeOf('i1', 1), envelopeOf('i1', 0, eventId.replace('6f', '7f'))].map((one) => idOf({}, one)),
    ];
    expect(new Set([...same, ...others]).size).toBe(1 + others.length);
  });

  it.each(['é', 'two\r\nlines', 'x'.repeat(129)])('has an id like %j as application property only (C1)', (id) => {
    const reply = notify(envelopeOf(id), about);
    expect([reply.properties['id'], reply.correlationId]).toEqual([id, undefined]);
  });
});
