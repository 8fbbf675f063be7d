import fc from 'fast-check';
import { v5 } from 'uuid';
import { describe, expect, it } from 'vitest';
import { derivedTraceId, newTraceparent, traceContextOf, uuidv5 } from '../../src/protocol/ids.ts';

describe('a derived UUID', () => {
  it('equals the example of RFC 9562', () =>
    expect(uuidv5('www.example.com', '6ba7b810-9dad-11d1-80b4-00c04fd430c8')).toBe(
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    ));

  it('equals that of another implementation, for any name and namespace', () => {
    const name = fc.string({ unit: 'binary', maxLength: 100 });
    fc.assert(
      fc.property(name, fc.uuid(), (name, namespace) => {
        expect(uuidv5(name, namespace)).toBe(v5(name, namespace));
      }),
      { numRuns: 100 },
    );
  });

  it('is the same for a namespace in upper case', () => {
    const namespace = 'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a11';
    expect(uuidv5('a', namespace.toUpperCase())).toBe(uuidv5('a', namespace));
  });

  it.each([
    ...['', 'nobody', 'd3f3b7c6-52a1-5c0e-9c39', 'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a1x'],
    ...['d3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7ax1', 'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a111'],
    ...['d3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a/:', 'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a@`'],
  ])('refuses a namespace that is not a UUID, such as %j', (namespace) =>
    expect(() => uuidv5('a', namespace)).toThrow('the namespace is not a UUID'),
  );
});

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('a traceparent', () => {
  it.each(['00', '01', 'ff'])('has its trace and parent ids, with any flags: %s', (flags) =>
    expect(traceContextOf(`00-${traceId}-${spanId}-${flags}`)).toEqual({ traceId, spanId }),
  );

  it.each([
    ...[undefined, '', `01-${traceId}-${spanId}-01`, `00-${traceId.toUpperCase()}-${spanId}-01`],
    ...[`00-${'0'.repeat(32)}-${spanId}-01`, `00-${traceId}-${'0'.repeat(16)}-01`],
    ...[`00-${traceId}-${spanId}-0g`, `00-${traceId}-${spanId.slice(1)}g-01`],
    ...[`00-${traceId.slice(1)}g-${spanId}-01`, `00-${traceId}-${spanId}-1`, `00-${traceId}-${spanId}-01-`],
    ...[`00-${traceId.slice(1)}-${spanId}-01 `, `x0-${traceId}-${spanId}-01`, ` 00-${traceId}-${spanId}-0`],
    `00_${traceId}_${spanId}_01`,
  ])('that is absent or malformed has none: %s', (text) => expect(traceContextOf(text)).toBeUndefined());

  it('that is created has the trace id, a new parent id, and the sampling flag', () => {
    const [one, other] = [newTraceparent(traceId), newTraceparent(traceId)];
    expect(traceContextOf(one)).toEqual({ traceId, spanId: expect.stringMatching(/^[\da-f]{16}$/) });
    expect(one).not.toBe(other);
    expect(newTraceparent(traceId, spanId)).toBe(`00-${traceId}-${spanId}-01`);
    expect(newTraceparent(traceId, spanId, false)).toBe(`00-${traceId}-${spanId}-00`);
  });
});

it('the trace id of an event without a traceparent is its derived id', () =>
  expect(derivedTraceId('6f9619ff-8b86-5011-b42d-00cf4fc964ff')).toBe('6f9619ff8b865011b42d00cf4fc964ff'));
