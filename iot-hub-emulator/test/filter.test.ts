import { describe, expect, test } from 'vitest';
import { parseFilter } from '../src/amqp/filter.ts';

describe('a receiver starts', () => {
  test.each([
    [undefined, { by: 'offset', value: -1, inclusive: false }],
    ["amqp.annotation.x-opt-offset > '-1'", { by: 'offset', value: -1, inclusive: false }],
    ["amqp.annotation.x-opt-offset > '@latest'", { by: 'latest' }],
    ["amqp.annotation.x-opt-offset >= '1234'", { by: 'offset', value: 1234, inclusive: true }],
    ["amqp.annotation.x-opt-sequence-number > '7'", { by: 'sequenceNumber', value: 7, inclusive: false }],
    ["amqp.annotation.x-opt-sequence-number >= '7'", { by: 'sequenceNumber', value: 7, inclusive: true }],
    ["amqp.annotation.x-opt-enqueued-time > '1700000000000'", { by: 'enqueuedTime', value: 1.7e12, inclusive: false }],
    [' amqp.annotation.x-opt-sequence-number>=7 ', { by: 'sequenceNumber', value: 7, inclusive: true }],
  ])('at the position of %j', (selector, start) => {
    expect(parseFilter(selector)).toEqual(start);
  });

  test.each([
    'offset > 1',
    "amqp.annotation.x-opt-offset < '1'",
    "amqp.annotation.x-opt-offset > 'abc'",
    "amqp.annotation.x-opt-sequence-number > '@latest'",
    "amqp.annotation.x-opt-offset > '1' OR 1=1",
    '',
    7,
  ])('not with %j, which is refused', (selector) => {
    expect(() => parseFilter(selector)).toThrow('The filter of the receiver is none that Event Hubs knows.');
  });
});
