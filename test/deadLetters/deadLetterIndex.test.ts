import { describe, expect, it } from 'vitest';
import { folderOfId, idOf } from '../../src/deadLetters/deadLetter.ts';
import { createDeadLetterIndex } from '../../src/deadLetters/deadLetterIndex.ts';
import type { Entry } from '../../src/deadLetters/place.ts';
import { letter } from '../support/letters.ts';

const limits = { deviceLetters: 4, maxLetters: 12, maxBytes: 1_000, retentionMs: 50 };

/** What the ledger is to do, without regard to cost. */
function modelOf() {
  let entries: Entry[] = [];
  const inHubOrder = (folder: string) => entries.filter(({ id }) => folderOfId(id) === folder).map(({ id }) => id);
  const drop = (id: string) => {
    entries = entries.filter((one) => one.id !== id);
  };
  return {
    drop,
    add(entry: Entry, now: number): string[] {
      drop(entry.id);
      entries.push(entry);
      const gone: string[] = [];
      const take = (id: string | undefined) => {
        if (id === undefined) throw new Error('nothing is left to take');
        gone.push(id);
        drop(id);
      };
      const own = () => inHubOrder(folderOfId(entry.id)).sort();
      while (own().length > limits.deviceLetters) take(own().find((id) => id !== entry.id));
      const bytes = () => entries.reduce((sum, one) => sum + one.bytes, 0);
      while (
        entries.length > limits.maxLetters ||
        bytes() > limits.maxBytes ||
        now - (entries[0]?.at ?? now) > limits.retentionMs
      ) {
        take(entries[0]?.id);
      }
      return gone;
    },
    entries: () => entries,
  };
}

/** Numbers from 0 to below 1 that are the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

describe('the ledger', () => {
  it.each([1, 2, 3, 4, 5])('names those that must go as the plain rule does, in random order: seed %i', (seed) => {
    const random = numbers(seed);
    const pick = (most: number) => Math.floor(random() * most);
    let now = 0;
    const index = createDeadLetterIndex(limits, () => now);
    const model = modelOf();
    for (let round = 0; round < 3_000; round += 1) {
      now += pick(4);
      const id = idOf(letter(pick(12), { deviceId: `d${pick(6)}` }));
      if (random() < 0.15) {
        index.drop(id);
        model.drop(id);
      } else {
        const entry = { id, bytes: 1 + pick(250), at: now };
        expect(index.add(entry), `round ${round}`).toEqual(model.add(entry, now));
      }
      if (random() < 0.01) expect(index.fill(model.entries())).toEqual([]);
      expect(index.size()).toBe(model.entries().length);
      expect(index.size()).toBeLessThanOrEqual(limits.maxLetters);
    }
  });

  it('hands out at once what is too much of what it is filled with', () => {
    const index = createDeadLetterIndex({ ...limits, retentionMs: 1_000 }, () => 100);
    const entries = Array.from({ length: 40 }, (_, n) => {
      return { id: idOf(letter(n, { deviceId: `d${n % 8}` })), bytes: 100, at: n };
    });
    const gone = index.fill(entries.reverse());
    expect(index.size()).toBe(10);
    expect(new Set(gone).size).toBe(30);
    expect(gone).not.toContain(idOf(letter(39, { deviceId: 'd7' })));
  });
});
