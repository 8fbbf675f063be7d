import { describe, expect, it } from 'vitest';
import { createEnvelopeReader, messageId, messageNameOf } from '../../src/protocol/envelope.ts';
import { textless } from '../../src/protocol/event.ts';

const read = createEnvelopeReader({ defaultTimeoutSeconds: 300 });
const v2 = (properties: Record<string, unknown>) =>
  read('V2', { msgType: 'action', action: 'model.create', version: 2, correlationId: 'c1', ...properties }, 'd1', 'e1');
const v1 = (properties: Record<string, unknown>) =>
  read(
    'V1',
    { 'svc-messagetype': 'platformEvent', eventType: 'Svc.Device.Created', ...properties },
    'd1',
    '6f9619ff-8b86-5011-b42d-00cf4fc964ff',
  );

const binary = textless('binary');

describe('a V2 envelope', () => {
  it('has the defaults of an action without optional properties', () => {
    const { envelope, refusal } = v2({});
    expect(refusal).toBeUndefined();
    const expected = { name: 'model.create', ack: 'none', correlationId: 'c1', target: '', timeoutSeconds: 300 };
    expect(envelope).toMatchObject(expected);
  });

  it.each([
    ['', 'none'],
    ['none', 'none'],
    ['Positive', 'positive'],
    ['NEGATIVE', 'negative'],
    ['all', 'all'],
    ['Full', 'all'],
  ])('reads ack %j as %s', (ack, expected) =>
    expect(v2({ ack })).toMatchObject({ envelope: { ack: expected }, refusal: undefined }),
  );

  it.each(['yes', 'true', 'constructor', '__proto__'])('refuses ack %s, which counts as all for that answer', (ack) =>
    expect(v2({ ack })).toMatchObject({
      envelope: { ack: 'all' },
      refusal: { code: 'validation_error', details: 'property ack must be none, positive, negative or all' },
    }),
  );

  it.each([
    [{ version: '2' }, undefined],
    [{ version: 1 }, 'property version must be 2'],
    [{ version: '2.0' }, 'property version must be 2'],
    [{ version: undefined }, 'property version is required'],
    [{ action: undefined }, 'property action is required'],
    [{ correlationId: undefined }, 'property correlationId is required'],
    [{ correlationId: '' }, 'property correlationId must not be empty'],
    [{ correlationId: 'not a guid' }, undefined],
    [{ correlationId: 'two\r\nlines' }, undefined],
    [{ timeout: '99' }, undefined],
    [{ timeout: '899' }, undefined],
    [{ timeout: '900' }, undefined],
    [{ timeout: '1000' }, 'property timeout must be whole seconds from 1 to 900'],
    [{ timeout: '901' }, 'property timeout must be whole seconds from 1 to 900'],
    [{ timeout: '0' }, 'property timeout must be whole seconds from 1 to 900'],
    [{ timeout: '1.5' }, 'property timeout must be whole seconds from 1 to 900'],
    [{ target: 'edge/sensor-1' }, undefined],
    [{ target: '../other' }, undefined],
    [{ target: '/a//b/' }, undefined],
    [{ target: 'a\u0000b' }, 'property target must not have control characters'],
    [{ correlationId: binary }, 'property "correlationId" must have a text; this AMQP binary has none'],
    [
      { x: textless('list'), version: binary, timeout: 'x' },
      'property "version" must have a text; this AMQP binary has none; property "x" must have a text; this AMQP list has none; property timeout must be whole seconds from 1 to 900',
    ],
    [{ version: 1, timeout: 'x' }, 'property version must be 2; property timeout must be whole seconds from 1 to 900'],
  ])('with %j: %s {S2.3 S2.4}', (properties, details) => {
    expect(v2(properties).refusal?.details).toEqual(details);
    if (details !== undefined) expect(v2(properties).refusal?.code).toBe('validation_error');
  });

  it('counts an ack without a text as all {S2.6}', () =>
    expect(v2({ ack: binary })).toMatchObject({
      envelope: { ack: 'all' },
      refusal: { details: 'property "ack" must have a text; this AMQP binary has none' },
    }));
  it('has the default time-out when the message is refused', () => {
    expect(v2({ version: 3, timeout: '5' }).envelope.timeoutSeconds).toBe(300);
    expect(v2({ timeout: '5' }).envelope.timeoutSeconds).toBe(5);
  });

  it('has no name and no correlationId when they are empty', () =>
    expect(v2({ action: '', correlationId: '' }).envelope).toMatchObject({
      name: undefined,
      correlationId: undefined,
    }));
});

describe('the header limit of 32,768 bytes', () => {
  const base = { msgType: 'action', action: 'model.create', version: '2', correlationId: 'c1' };
  const used = Object.entries(base).reduce((sum, [name, value]) => sum + name.length + value.length, 0);

  it('is exact {S21.2}', () => expect(v2({ x: 'y'.repeat(32_768 - used - 1) }).refusal).toBeUndefined());

  it('counts bytes of UTF-8, and names the 32 kB limit one byte beyond, for both generations {S21.2}', () => {
    for (const { refusal } of [v2({ x: 'ü'.repeat((32_768 - used) / 2) }), v1({ x: 'y'.repeat(32_768) })]) {
      expect(refusal).toMatchObject({
        code: 'platform_event_validation_error',
        details: expect.stringContaining('32 kB header limit'),
      });
    }
  });

  it('comes before every other check', () =>
    expect(v2({ ack: 'x', version: 3, x: 'y'.repeat(32_768) }).refusal?.details).toContain('32 kB'));
});

it('the name of an unchecked message is a text among its own properties, or empty', () => {
  expect(messageNameOf('V2', { action: 'model.create', eventType: 'x' })).toBe('model.create');
  expect(messageNameOf('V1', { action: 'x', eventType: 'Svc.Device.Created' })).toBe('Svc.Device.Created');
  expect(messageNameOf('V2', { action: 5 })).toBe('');
  expect(messageNameOf('V2', Object.create({ action: 'model.create' }))).toBe('');
});

describe('a message id', () => {
  const idsOf = (envelope: ReturnType<typeof v1>['envelope']) =>
    ['acknowledgement', 'notification'].flatMap((about) =>
      [0, 1, 2].map((attempts) => messageId({ ...envelope, attempts }, about)),
    );

  it('is different for each reply and each replay', () => expect(new Set(idsOf(v1({}).envelope)).size).toBe(6));

  it('is the same for each delivery, and differs from the generated id of the event', () => {
    const { envelope } = v1({});
    expect(idsOf(v1({}).envelope)).toEqual(idsOf(envelope));
    expect(idsOf(envelope)).not.toContain(envelope.correlationId);
  });
});

describe('a V1 envelope', () => {
  it('has an id generated from the event when the device sends none {S3.4}', () => {
    const { envelope } = v1({});
    expect(envelope.correlationId).toMatch(/^[0-9a-f-]{36}$/);
    expect(v1({}).envelope.correlationId).toBe(envelope.correlationId);
    expect(v1({ id: '' }).envelope.correlationId).toBe(envelope.correlationId);
    expect(v1({ id: 'mine' }).envelope.correlationId).toBe('mine');
  });

  it('has the default time-out whatever the device sends', () =>
    expect(v1({ timeout: '5' })).toMatchObject({ envelope: { timeoutSeconds: 300 }, refusal: undefined }));
  it('is refused with the code of its generation {S3.3}', () => {
    expect(v1({ ack: 'x' }).refusal?.code).toBe('platform_event_validation_error');
    expect(v1({ eventType: undefined }).refusal?.details).toBe('property eventType is required');
  });
});
