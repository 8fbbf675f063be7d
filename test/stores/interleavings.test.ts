import { describe, expect, it, vi } from 'vitest';
import { storeFailureOf } from '../../src/observing/storeFailure.ts';
import { StorageError } from '../../src/stores/account.ts';
import { idOf, type LetterStorage, print } from '../../src/stores/deadLetter.ts';
import { createDeadLetters, type DeadLetters, LetterRefused } from '../../src/stores/deadLetterStore.ts';
import type { DeadLetterLimits } from '../../src/stores/letterLimits.ts';
import { letter, lettersIn } from '../support/letters.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { placeByHand } from './placeByHand.ts';

const id = (number: number) => idOf(letter(number));
const settle = () => vi.advanceTimersByTimeAsync(0);

withFakeTimers();

function setUp(limits: Partial<DeadLetterLimits> = {}) {
  const hand = placeByHand();
  return { ...hand, letters: lettersIn(hand.place, limits) };
}

/** More than a device may have, as a limit that is lowered leaves them. */
async function withExcess(numbers: readonly number[]) {
  const hand = placeByHand();
  for (const number of numbers) await lettersIn(hand.place).park(letter(number));
  return { ...hand, letters: lettersIn(hand.place, { deviceLetters: 1 }) };
}

describe('parking', () => {
  it('waits 3 s once for a store that does not answer a listing, then continues without it', async () => {
    const { letters, hold, ids } = setUp();
    hold('entries');
    for (const number of [1, 2]) void letters.park(letter(number));
    await vi.advanceTimersByTimeAsync(2_999);
    expect(ids()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ids()).toEqual([id(1), id(2)]);
    await letters.park(letter(3));
    expect(ids()).toEqual([id(1), id(2), id(3)]);
  });

  it('waits 3 s for deletions that make room, then continues without them', async () => {
    const { letters, hold, ids } = setUp({ maxLetters: 1 });
    for (const number of [1, 2]) await letters.park(letter(number));
    await settle();
    hold('remove');
    await letters.park(letter(3));
    void letters.park(letter(4));
    await vi.advanceTimersByTimeAsync(2_999);
    expect(ids()).toEqual([id(2), id(3)]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ids()).toEqual([id(2), id(3), id(4)]);
  });

  it('keeps a dead letter that is parked again while room is made for another', async () => {
    const { letters, hold, release, ids } = await withExcess([1, 2]);
    hold('remove');
    void letters.tidy();
    await settle();
    void letters.park(letter(1, { attempts: 2 }));
    await vi.advanceTimersByTimeAsync(3_000);
    release('remove');
    await settle();
    expect(ids()).toEqual([id(1), id(2)]);
    expect((await letters.read(id(1)))?.attempts).toBe(2);
  });

  it('keeps dead letters that are parked again while others that were in excess with them are deleted', async () => {
    const { letters, hold, release, ids } = await withExcess([1, 2, 3]);
    hold('remove');
    const tidying = letters.tidy();
    await settle();
    const parking = [1, 2].map((number) => letters.park(letter(number, { attempts: 2 })));
    await vi.advanceTimersByTimeAsync(3_000);
    release('remove');
    await Promise.all([tidying, ...parking]);
    expect(ids()).toEqual([id(1), id(2), id(3)]);
  });

  it('never deletes a dead letter during its writing, even if all others are deleted', async () => {
    const { letters, place, hold, ids } = setUp();
    const tight = lettersIn(place, { retentionMs: -1 });
    await tight.tidy();
    for (const number of [1, 2]) await letters.park(letter(number));
    hold('write');
    void tight.park(letter(1, { attempts: 2 }));
    await settle();
    await tight.tidy();
    expect(ids()).toEqual([id(1)]);
  });

  it('never deletes a dead letter that is written during the listing', async () => {
    const { letters, place, hold, release, ids } = setUp({ retentionMs: -1 });
    await place.write(id(1), 'of another instance');
    hold('entries');
    const tidying = letters.tidy();
    await settle();
    await letters.park(letter(1, { attempts: 2 }));
    release('entries');
    await tidying;
    expect(ids()).toEqual([id(1)]);
  });

  it('lists again after a tenth of the limit in dead letters, and makes room for those of other instances', async () => {
    const { letters, place, ids, asked } = setUp({ deviceLetters: 1_000, maxLetters: 50 });
    await letters.park(letter(0));
    await settle();
    for (let number = 0; number < 60; number += 1)
      await place.write(idOf(letter(number, { deviceId: 'other' })), 'of another instance');
    for (let number = 1; number <= 4; number += 1) await letters.park(letter(number));
    await settle();
    expect([asked().entries, ids().length]).toEqual([1, 65]);
    await letters.park(letter(5));
    await settle();
    expect([asked().entries, ids().length]).toEqual([2, 50]);
    for (let number = 6; number <= 10; number += 1) await letters.park(letter(number));
    await settle();
    expect(asked().entries).toBe(2);
    await letters.park(letter(11));
    await settle();
    expect(asked().entries).toBe(3);
  });

  it('is in order whatever the order of the store, and waits for a listing that is under way instead of beginning another', async () => {
    const { letters, place, asked, hold, release } = setUp();
    for (const number of [3, 1, 2]) await place.write(id(number), 'of another instance');
    expect(await letters.ids()).toEqual([id(1), id(2), id(3)]);
    hold('entries');
    const tidying = [letters.tidy(), letters.tidy()];
    await settle();
    expect(asked().entries).toBe(2);
    release('entries');
    await Promise.all(tidying);
    expect(asked().entries).toBe(2);
  });

  it('counts what is parked during a listing for the next one', async () => {
    const { letters, asked, hold, release } = setUp({ deviceLetters: 1_000, maxLetters: 50 });
    hold('entries');
    const tidying = letters.tidy();
    await settle();
    await Promise.all([1, 2, 3, 4].map((number) => letters.park(letter(number))));
    release('entries');
    await tidying;
    await letters.park(letter(5));
    await settle();
    expect(asked().entries).toBe(1);
    await letters.park(letter(6));
    await settle();
    expect(asked().entries).toBe(2);
  });

  it('is refused for a dead letter that is larger than all may be, in bytes and not in characters, and displaces no other', async () => {
    const wide = letter(2, { details: 'ü'.repeat(1_000) });
    const { letters, ids } = setUp({ maxBytes: print(wide).length });
    await letters.park(letter(1));
    await expect(letters.park(wide)).rejects.toThrow(/^a dead letter of \d+ bytes exceeds DEAD_LETTERS_MAX_BYTES/);
    await letters.tidy();
    expect(ids()).toEqual([id(1)]);
  });

  it('lists again after a tenth of the limit in bytes', async () => {
    const { letters, asked } = setUp({ maxBytes: 30 * Buffer.byteLength(print(letter(1))) });
    for (let number = 1; number <= 3; number += 1) await letters.park(letter(number));
    await settle();
    expect(asked().entries).toBe(1);
    await letters.park(letter(4));
    await settle();
    expect(asked().entries).toBe(2);
  });

  it('continues while the store cannot be listed, and warns at each tenth', async () => {
    const { place } = placeByHand();
    vi.spyOn(place, 'entries').mockImplementation(() => {
      throw new Error('forbidden');
    });
    const letters = lettersIn(place, { maxLetters: 50 });
    for (let number = 1; number <= 12; number += 1) await letters.park(letter(number));
    expect(letters.warnings).toEqual(Array(2).fill('dead letters cannot be counted; their limits may not hold'));
  });
});

describe('a device with as many dead letters as it may have', () => {
  const tooMany = 'the device has as many dead letters as one device may have, in number or in bytes';
  const bytes = Buffer.byteLength(print(letter(1)));

  it.each([
    ['number', { deviceLetters: 2 }],
    ['bytes', { deviceBytes: 2 * bytes }],
    ['bytes, by one', { deviceBytes: 3 * bytes - 1 }],
  ])('gets no further one beyond its %s, an earlier process included, and keeps its own', async (_, limits) => {
    const { place, letters, ids } = setUp(limits);
    for (const number of [1, 2]) await lettersIn(place).park(letter(number));
    const refused = new LetterRefused(tooMany, 'replay or delete dead letters of the device');
    await expect(letters.park(letter(3))).rejects.toThrow(refused);
    await letters.park(letter(2, { attempts: 2 }));
    await letters.park(letter(3, { deviceId: 'd2' }));
    expect(ids()).toEqual([id(1), id(2), idOf(letter(3, { deviceId: 'd2' }))].sort());
  });

  it('gets one that alone is larger', async () => {
    const { letters, ids } = setUp({ deviceBytes: bytes - 1 });
    await letters.park(letter(1));
    await expect(letters.park(letter(2))).rejects.toThrow(tooMany);
    expect(ids()).toEqual([id(1)]);
  });

  it('gets further ones when others have deleted some, and the store is asked only then', async () => {
    const { place, letters, ids, asked } = setUp({ deviceLetters: 2, maxLetters: 1_000 });
    for (const number of [1, 2]) await letters.park(letter(number));
    expect(asked().entries).toBe(1);
    await place.remove(id(1));
    await letters.park(letter(3));
    expect([ids(), asked().entries]).toEqual([[id(2), id(3)], 2]);
  });

  it.each(['fails', 'hangs'])('gets further ones while the listing of the store %s', async (how) => {
    const { place, letters, ids } = setUp({ deviceLetters: 1, maxLetters: 1_000 });
    await letters.park(letter(1));
    vi.spyOn(place, 'entries').mockImplementation(async () => {
      if (how === 'fails') throw new Error('forbidden');
      return new Promise(() => {});
    });
    const parking = letters.park(letter(2));
    await vi.advanceTimersByTimeAsync(3_000);
    await parking;
    expect(ids()).toEqual([id(1), id(2)]);
  });

  it('is known again a minute after a listing that failed', async () => {
    const { place, letters, ids } = setUp({ deviceLetters: 2, maxLetters: 1_000 });
    vi.spyOn(place, 'entries').mockImplementationOnce(() => {
      throw new Error('forbidden');
    });
    for (const number of [1, 2]) await letters.park(letter(number));
    await vi.advanceTimersByTimeAsync(60_001);
    await expect(letters.park(letter(3))).rejects.toThrow(tooMany);
    expect(ids()).toEqual([id(1), id(2)]);
  });
});

it('a dead letter that cannot be made, or that the store will never take, is refused; what may pass is not', async () => {
  const { place, letters } = setUp();
  const failureOf = (status: number, code: string) =>
    storeFailureOf(new StorageError('writing', status, code), { setting: 'STORE_CONNECTION_STRING' });
  const park = (status: number, code: string) => {
    vi.spyOn(place, 'write').mockRejectedValueOnce(failureOf(status, code));
    return letters.park(letter(1)).catch((error: Error) => error.name);
  };
  expect(await park(413, 'RequestBodyTooLarge')).toBe('LetterRefused');
  expect(await park(409, 'BlobImmutableDueToPolicy')).toBe('LetterRefused');
  expect(await park(409, 'ContainerBeingDeleted')).toBe('StoreFailure');
  for (const status of [400, 401, 403, 404, 429, 503]) expect(await park(status, 'Other')).toBe('StoreFailure');
  const circle: unknown[] = [];
  circle.push(circle);
  const unprintable = letter(1, { event: { ...letter(1).event, body: circle } });
  await expect(letters.park(unprintable)).rejects.toMatchObject({ name: 'LetterRefused' });
});

describe('several calls for one dead letter', () => {
  const attemptsOf = async (letters: DeadLetters) => (await letters.read(id(1)))?.attempts;

  it('take effect in their order, the third as well when the first has ended', async () => {
    const { letters, hold, release } = setUp();
    hold('write');
    const first = letters.park(letter(1));
    await settle();
    const second = letters.remove(id(1));
    hold('remove');
    release('write');
    await first;
    await settle();
    const third = letters.park(letter(1, { attempts: 2 }));
    await settle();
    release('remove');
    await Promise.all([second, third]);
    expect(await attemptsOf(letters)).toBe(2);
  });

  it('take effect although those before have failed', async () => {
    const { letters, place } = setUp();
    vi.spyOn(place, 'write').mockRejectedValueOnce(new Error('no answer'));
    vi.spyOn(place, 'remove').mockRejectedValueOnce(new Error('no answer'));
    const calls = [letters.park(letter(1)), letters.remove(id(1)), letters.park(letter(1, { attempts: 2 }))];
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(await attemptsOf(letters)).toBe(2);
    await letters.remove(id(1));
    expect(await attemptsOf(letters)).toBe(undefined);
  });

  it('do not wait for those for other dead letters', async () => {
    const { letters, hold, ids } = setUp();
    await letters.park(letter(2));
    hold('remove');
    void letters.remove(id(2));
    await letters.park(letter(1));
    expect(ids()).toEqual([id(1), id(2)]);
  });
});

it('the store is opened once for all calls, and again after it could not be opened', async () => {
  const { place, ids } = placeByHand();
  let opened = 0;
  async function open(): Promise<LetterStorage> {
    opened += 1;
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (opened === 1) throw new Error('not there yet');
    return place;
  }
  const limits = { deviceLetters: 9, maxLetters: 9, deviceBytes: 1e6, maxBytes: 1e6, retentionMs: 1e6 };
  const letters = createDeadLetters({ open, limits, log: { warn() {} }, now: Date.now });
  const calls = () => Promise.allSettled([letters.park(letter(1)), letters.ids(), letters.read(id(2)), letters.tidy()]);
  const [early] = await Promise.all([calls(), vi.advanceTimersByTimeAsync(2)]);
  // What is parked waits for the listing, and goes on without it.
  expect([opened, ...early.map(({ status }) => status)]).toEqual([2, 'fulfilled', ...Array(3).fill('rejected')]);
  const [late] = await Promise.all([calls(), vi.advanceTimersByTimeAsync(1)]);
  expect(late.map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
  expect([opened, ids()]).toEqual([2, [id(1)]]);
});

it.each([
  ['number', { maxLetters: 100, deviceLetters: 1_000 }],
  ['bytes', { maxLetters: 100_000, deviceLetters: 1_000, maxBytes: 100 * Buffer.byteLength(print(letter(1))) }],
])('a flood exceeds the limit of %s by no more than a fifth and the writes in progress', async (_limit, limits) => {
  const { place, ids } = placeByHand();
  const width = 10;
  const letters = lettersIn(slow(place), { maxBytes: 1e9, deviceBytes: 1e9, ...limits });
  let [next, most] = [1_000, 0]; // numbers of as many digits
  async function flood() {
    while (next < 1_600) {
      next += 1;
      await letters.park(letter(next, { deviceId: `d${next % 7}` }));
      most = Math.max(most, ids().length);
    }
  }
  const flooding = Promise.all(Array.from({ length: width }, flood));
  await vi.advanceTimersByTimeAsync(600_000);
  await flooding;
  expect(most).toBeGreaterThan(100);
  expect(most).toBeLessThanOrEqual(120 + width);
});

/** Each call takes a millisecond. */
function slow(place: LetterStorage): LetterStorage {
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1));
  return {
    ...place,
    entries: (...given) => pause().then(() => place.entries(...given)),
    write: (...given) => pause().then(() => place.write(...given)),
    remove: (...given) => pause().then(() => place.remove(...given)),
  };
}
