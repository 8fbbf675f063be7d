import { describe, expect, test } from 'vitest';
import { correlationOf } from '../src/journal/entry.ts';
import { createJournal } from '../src/journal/journal.ts';
import { sizeOf } from '../src/values/size.ts';

const connected = (deviceId: string) => ({ kind: 'connected', deviceId, protocol: 'mqtt' }) as const;
const place = { partition: 0, sequenceNumber: 0 };
const sent = (deviceId: string, bytes: number, properties: Record<string, unknown> = {}) =>
  ({ kind: 'd2c', deviceId, ...place, system: {}, properties, body: Buffer.alloc(bytes) }) as const;

describe('the journal', () => {
  test('counts positions from 1 and records the time', () => {
    const journal = createJournal({ now: () => 5 });
    expect([journal.first, journal.last]).toEqual([1, 0]);
    expect(journal.add(connected('a'))).toEqual({ ...connected('a'), position: 1, time: 5 });
    expect([journal.first, journal.last]).toEqual([1, 1]);
  });
  test('gives the next entry that passes, or one that it has', async () => {
    const journal = createJournal();
    const next = journal.next({ kind: 'connected', deviceId: 'a' });
    const later = journal.next({ kind: 'connected', deviceId: 'a', since: 3 });
    journal.add(sent('a', 1));
    journal.add(connected('b'));
    journal.add(connected('a'));
    expect(await next).toMatchObject({ position: 3, deviceId: 'a' });
    journal.add(connected('a'));
    expect(await later).toMatchObject({ position: 4 });
    expect(await journal.next({ kind: 'connected' })).toMatchObject({ position: 2 });
  });
  test('ends the waiting for an entry with a signal', async () => {
    const journal = createJournal();
    const waiting = new AbortController();
    const next = journal.next({}, waiting.signal);
    waiting.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await expect(journal.next({}, waiting.signal)).rejects.toThrow('enough');
  });
  test('keeps the latest entries within its bound of bytes', () => {
    const journal = createJournal({ bytes: 100_000 });
    for (let i = 0; i < 5000; i += 1) {
      journal.add(sent('a', (i * 7919) % 10_000));
      const kept = journal.list();
      expect(kept.reduce((sum, entry) => sum + sizeOf(entry), 0)).toBeLessThanOrEqual(100_000);
      expect([kept.at(0)?.position, kept.at(-1)?.position]).toEqual([journal.first, i + 1]);
    }
    expect(journal.at(journal.first - 1)).toBeUndefined();
    expect(journal.list({ since: 1 })[0]?.position).toBe(journal.first);
  });
  test('keeps an entry that is larger than its bound until the next one', () => {
    const journal = createJournal({ bytes: 10_000 });
    journal.add(sent('large', 20_000));
    expect(journal.list()).toHaveLength(1);
    journal.add(connected('small'));
    expect(journal.list()).toMatchObject([connected('small')]);
  });
});

test.each([
  ['the property correlationId', { correlationId: 'a', id: 'b' }, 'system', 'a'],
  ['the property id', { id: 7 }, 'system', '7'],
  ['the system property', {}, 'system', 'system'],
  ['nothing', {}, undefined, undefined],
])('the correlation id of a message is %s', (_, properties, correlationId, expected) =>
  expect(correlationOf({ system: correlationId === undefined ? {} : { correlationId }, properties })).toBe(expected),
);

test('the size of an entry counts all its texts, names and bytes', () => {
  const text = 'x'.repeat(1000);
  expect(sizeOf(sent('a', 5000, { a: text, b: text }))).toBeGreaterThan(5000 + 2 * 2000);
  let deep: unknown = 'end';
  for (let i = 0; i < 50_000; i += 1) deep = { deep };
  expect(sizeOf({ deep })).toBeGreaterThan(0);
});
