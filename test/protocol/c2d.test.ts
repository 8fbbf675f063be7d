import { describe, expect, it } from 'vitest';
import { fits, maxReplyBytes, type Reply, sizeOf, systemCorrelationId } from '../../src/protocol/reply.ts';

const reply: Reply = {
  kind: 'acknowledgement',
  deviceId: 'pump 1',
  messageId: '0123456789',
  correlationId: undefined,
  properties: {},
  body: '',
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

  it('is at most 65,536', () => {
    expect(fits({ ...reply, body: 'x'.repeat(maxReplyBytes - least) })).toBe(true);
    expect(fits({ ...reply, body: 'x'.repeat(maxReplyBytes - least + 1) })).toBe(false);
    expect(maxReplyBytes).toBe(65_536);
  });
});

describe('the system correlation id', () => {
  it.each(['x', '~ ', 'x'.repeat(128)])('is the request’s: %j', (id) => expect(systemCorrelationId(id)).toBe(id));
  it.each([undefined, '', 'ü', 'a\n', '\u007f', 'x'.repeat(129)])('is left out for %j', (id) =>
    expect(systemCorrelationId(id)).toBeUndefined(),
  );
});

const empty: Reply = {
  kind: 'acknowledgement',
  deviceId: '',
  messageId: '',
  correlationId: undefined,
  properties: {},
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
