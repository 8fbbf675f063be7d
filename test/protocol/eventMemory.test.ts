import rhea from 'rhea';
import { describe, expect, it } from 'vitest';
import { compactEvent, memoryOf, memoryWhileWaiting } from '../../src/protocol/eventMemory.ts';
import { hubEvent } from '../support/events.ts';

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
