import { describe, expect, it, vi } from 'vitest';
import { idOf } from '../../src/deadLetters/deadLetter.ts';
import type { Place } from '../../src/deadLetters/place.ts';
import { withFakeTimers } from '../support/fakeTimers.ts';
import { letter, lettersIn } from '../support/letters.ts';

/** A place in memory whose verbs wait for the test while they are held up. */
function placeByHand() {
  const texts = new Map<string, string>();
  const held = new Map<string, (() => void)[]>();
  const pass = async (verb: string) => {
    const waiting = held.get(verb);
    if (waiting) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const place: Place = {
    async *entries() {
      const found = [...texts].map(([id, text]) => ({ id, bytes: text.length, at: Date.now() }));
      await pass('entries');
      yield* found;
    },
    read: (id) => Promise.resolve(texts.get(id)),
    async write(id, text) {
      await pass('write');
      texts.set(id, text);
    },
    async remove(id) {
      await pass('remove');
      texts.delete(id);
    },
  };
  return {
    place,
    hold: (verb: 'entries' | 'write' | 'remove') => void held.set(verb, []),
    release(verb: 'entries' | 'write' | 'remove') {
      const waiting = held.get(verb) ?? [];
      held.delete(verb);
      for (const go of waiting) go();
    },
    ids: () => [...texts.keys()].sort(),
  };
}

const id = (number: number) => idOf(letter(number));
const settle = () => vi.advanceTimersByTimeAsync(0);

withFakeTimers();

describe('parking', () => {
  it('waits 3 s for a place that does not tell what it holds, once, then goes on without', async () => {
    const { place, hold, ids } = placeByHand();
    hold('entries');
    const letters = lettersIn(place);
    void letters.park(letter(1));
    await vi.advanceTimersByTimeAsync(2_999);
    expect(ids()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ids()).toEqual([id(1)]);
    await letters.park(letter(2));
    expect(ids()).toEqual([id(1), id(2)]);
  });

  it('waits 3 s for room to be made, then goes on without', async () => {
    const { place, hold, ids } = placeByHand();
    const letters = lettersIn(place, { maxLetters: 1 });
    await letters.park(letter(1));
    hold('remove');
    void letters.park(letter(2));
    await vi.advanceTimersByTimeAsync(2_999);
    expect(ids()).toEqual([id(1)]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ids()).toEqual([id(1), id(2)]);
  });

  it('keeps a dead letter that is parked again while it makes room for another', async () => {
    const { place, hold, release, ids } = placeByHand();
    const letters = lettersIn(place, { deviceLetters: 1 });
    await letters.park(letter(1));
    hold('remove');
    void letters.park(letter(2));
    await settle();
    void letters.park(letter(1, { attempts: 2 }));
    await settle();
    release('remove');
    await settle();
    expect(ids()).toEqual([id(1)]);
    expect((await letters.read(id(1)))?.attempts).toBe(2);
  });

  it('deletes a dead letter that has to make room while it is still being written', async () => {
    const { place, hold, release, ids } = placeByHand();
    const letters = lettersIn(place, { maxLetters: 1 });
    await letters.tidy();
    hold('write');
    void letters.park(letter(1));
    await settle();
    void letters.park(letter(2));
    await settle();
    release('write');
    await settle();
    expect(ids()).toEqual([id(2)]);
  });

  it('forgets a dead letter that could not be written', async () => {
    const { place, ids } = placeByHand();
    const write = vi.spyOn(place, 'write').mockRejectedValueOnce(new Error('full'));
    const letters = lettersIn(place, { maxLetters: 2 });
    await expect(letters.park(letter(1))).rejects.toThrow('full');
    for (const number of [2, 3]) await letters.park(letter(number));
    expect(ids()).toEqual([id(2), id(3)]);
    expect(write).toHaveBeenCalledTimes(3);
  });

  it('looks again after ten minutes, and knows better than the place what has changed meanwhile', async () => {
    const { place, hold, release, ids } = placeByHand();
    const letters = lettersIn(place, { maxLetters: 3 });
    for (const number of [1, 2, 3]) await letters.park(letter(number));
    await vi.advanceTimersByTimeAsync(10 * 60_000 + 1);
    const other = letter(9, { deviceId: 'other' });
    await place.write(idOf(other), 'of another instance');
    hold('entries');
    await letters.park(letter(4)); // makes room by 1, which the look has seen
    expect(ids()).toEqual([id(2), id(3), id(4), idOf(other)].sort());
    release('entries');
    await settle();
    expect(ids()).toHaveLength(3);
    expect(ids()).toContain(id(4));
    await letters.park(letter(5));
    expect(ids()).toHaveLength(3);
  });

  it('does not count a dead letter that is removed while somebody looks', async () => {
    const { place, hold, release, ids } = placeByHand();
    const letters = lettersIn(place, { maxLetters: 3 });
    for (const number of [1, 2]) await letters.park(letter(number));
    hold('entries');
    const tidying = letters.tidy();
    await settle();
    await letters.remove(id(2));
    release('entries');
    await tidying;
    for (const number of [3, 4]) await letters.park(letter(number));
    expect(ids()).toEqual([id(1), id(3), id(4)]);
  });

  it('counts a dead letter that is being written while somebody looks', async () => {
    const { place, hold, release, ids } = placeByHand();
    const letters = lettersIn(place, { maxLetters: 1 });
    await letters.ids();
    hold('write');
    void letters.park(letter(1));
    await settle();
    hold('entries');
    const tidying = letters.tidy();
    await settle();
    release('write');
    await settle();
    release('entries');
    await tidying;
    await letters.park(letter(2));
    expect(ids()).toEqual([id(2)]);
  });

  it('looks again when many have been parked, whatever others have put there', async () => {
    const { place, ids } = placeByHand();
    const letters = lettersIn(place, { deviceLetters: 10, maxLetters: 10_000 });
    await letters.park(letter(0));
    for (let number = 0; number < 30; number += 1) {
      await place.write(idOf(letter(number, { deviceId: 'other' })), 'of another instance');
    }
    for (let number = 1; number <= 1_001; number += 1) await letters.park(letter(number));
    await settle();
    expect(ids()).toHaveLength(20);
  });
});
