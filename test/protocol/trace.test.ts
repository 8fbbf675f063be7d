import { describe, expect, it } from 'vitest';
import { derivedTraceId, newTraceparent, traceContextOf } from '../../src/protocol/ids.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';

describe('a traceparent', () => {
  it.each(['00', '01', 'ff'])('has its trace and parent ids, with any flags: %s', (flags) =>
    expect(traceContextOf(`00-${traceId}-${spanId}-${flags}`)).toEqual({ traceId, spanId }),
  );

  it.each([
    undefined,
    '',
    `01-${traceId}-${spanId}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId}-${spanId}-0g`,
    `00-${traceId}-${spanId.slice(1)}g-01`,
    `00-${traceId.slice(1)}g-${spanId}-01`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-01-`,
    `00-${traceId.slice(1)}-${spanId}-01 `,
    `x0-${traceId}-${spanId}-01`,
    ` 00-${traceId}-${spanId}-0`,
    `00_${traceId}_${spanId}_01`,
  ])('that is absent or malformed has none: %s', (text) => expect(traceContextOf(text)).toBeUndefined());

  it('that is created has the trace id, a new parent id, and the sampling flag', () => {
    const [one, other] = [newTraceparent(traceId), newTraceparent(traceId)];
    expect(traceContextOf(one)).toEqual({ traceId, spanId: expect.stringMatching(/^[\da-f]{16}$/) });
    expect(one).not.toBe(other);
    expect(newTraceparent(traceId, spanId)).toBe(`00-${traceId}-${spanId}-01`);
    expect(newTraceparent(traceId, spanId, false)).toBe(`00-${traceId}-${spanId}-00`);
  });

  it('has a new parent id each time', () => {
    const made = Array.from({ length: 1_000 }, () => traceContextOf(newTraceparent(traceId))?.spanId);
    expect(new Set(made).size).toBe(made.length);
  });
});

it('the trace id of an event without a traceparent is its derived id', () =>
  expect(derivedTraceId('6f9619ff-8b86-5011-b42d-00cf4fc964ff')).toBe('6f9619ff8b865011b42d00cf4fc964ff'));
