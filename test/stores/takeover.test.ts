import { describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/observing/log.ts';
import { createHandling } from '../../src/programs/handling.ts';
import { type DeadLetter, idOf, partitionOfId } from '../../src/stores/deadLetter.ts';
import { createDirectory } from '../../src/stores/letterFiles.ts';
import type { DeadLetterLimits } from '../../src/stores/letterLimits.ts';
import { settings } from '../support/environment.ts';
import { letter, lettersIn } from '../support/letters.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { placeByHand } from './placeByHand.ts';

// Which messages cost the store a request after a take-over: while former owners may write, the first of each device; then those with a dead
// letter.

withFakeTimers();

const settle = () => vi.advanceTimersByTimeAsync(0);
const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

function setUp(limits: Partial<DeadLetterLimits> = {}) {
  const hand = placeByHand();
  const letters = lettersIn(hand.place, limits);
  const handle = (number: number, more: Partial<DeadLetter> = {}) => letters.remove(idOf(letter(number, more)));
  return { ...hand, letters, handle };
}

describe('a message that may have been handled before', () => {
  it('costs a look for each device until former owners have been silent for 20 s, and nothing after one more listing', async () => {
    const { letters, handle, asked } = setUp();
    letters.takenOver('0');
    await seconds(100); // nothing has come from the hub yet
    for (let number = 1; number <= 10; number += 1) await handle(number);
    for (let number = 1; number <= 10; number += 1) await handle(number, { deviceId: 'another' });
    await seconds(19.999);
    await handle(11);
    expect(asked()).toEqual({ remove: 0, entries: 2 });
    await seconds(0.001);
    await handle(12);
    await settle();
    for (let number = 13; number <= 1_000; number += 1) await handle(number);
    await seconds(10_000);
    await handle(1_001);
    expect(asked()).toEqual({ remove: 1, entries: 3 });
  });

  it('deletes each dead letter that its device had at the first one, at once', async () => {
    const { letters, handle, place, ids, asked } = setUp();
    for (const number of [1, 3, 5]) await lettersIn(place).park(letter(number));
    const { entries } = asked();
    letters.takenOver('0');
    for (const number of [1, 2, 3]) await handle(number);
    expect([ids(), asked()]).toEqual([[idOf(letter(5))], { remove: 2, entries: entries + 1 }]);
  });

  it('deletes its dead letter that this instance has parked after the look at the device', async () => {
    const { letters, handle, ids } = setUp();
    letters.takenOver('0');
    await handle(1);
    await letters.park(letter(2));
    await handle(2);
    expect(ids()).toEqual([]);
  });

  it('deletes the dead letter that a former owner wrote at the last moment', async () => {
    const { letters, handle, place, ids } = setUp();
    letters.takenOver('0');
    await handle(1);
    await seconds(19.999);
    await lettersIn(place).park(letter(7));
    await seconds(0.001);
    await handle(2);
    await settle();
    await handle(3);
    await handle(7);
    expect(ids()).toEqual([]);
  });

  it('deletes its dead letter that this instance has parked since', async () => {
    const { letters, handle, ids } = setUp();
    await settled({ letters, handle });
    await letters.park(letter(7));
    await handle(8);
    expect(ids()).toEqual([idOf(letter(7))]);
    await handle(7);
    expect(ids()).toEqual([]);
  });

  it('deletes its dead letter whose writing is in progress', async () => {
    const { letters, handle, ids, hold, release } = setUp();
    await settled({ letters, handle });
    hold('write');
    void letters.park(letter(7));
    await settle();
    const handling = handle(7);
    release('write');
    await handling;
    expect(ids()).toEqual([]);
  });

  it.each(['is reported as failed, and succeeds all the same', 'succeeds after a time-out was reported'])(
    'deletes its dead letter whose writing %s',
    async (how) => {
      const { letters, handle, place, ids } = setUp();
      await settled({ letters, handle });
      const { write } = place;
      vi.spyOn(place, 'write').mockImplementationOnce(async (...given) => {
        if (how.includes('after')) setTimeout(() => void write(...given), 1_000);
        else await write(...given);
        throw new Error('no answer');
      });
      await expect(letters.park(letter(7))).rejects.toThrow('no answer');
      await seconds(1);
      expect(ids()).toEqual([idOf(letter(7))]);
      await handle(7);
      expect(ids()).toEqual([]);
    },
  );

  it('deletes its dead letter whose deletion has failed before', async () => {
    const { letters, handle, place, ids } = setUp();
    await settled({ letters, handle });
    await letters.park(letter(7));
    vi.spyOn(place, 'remove').mockRejectedValueOnce(new Error('no answer'));
    await expect(handle(7)).rejects.toThrow('no answer');
    await handle(7);
    expect(ids()).toEqual([]);
  });

  it('deletes its dead letter that was parked again while the one before was being deleted', async () => {
    const { letters, handle, ids, hold, release } = setUp();
    await settled({ letters, handle });
    await letters.park(letter(7));
    hold('remove');
    const handling = handle(7);
    await settle();
    const parking = letters.park(letter(7, { attempts: 2 }));
    await settle();
    release('remove');
    await Promise.all([handling, parking]);
    expect(ids()).toEqual([idOf(letter(7))]);
    await handle(7);
    expect(ids()).toEqual([]);
  });

  it('deletes its dead letter that was parked during the listing, and asks for none that was deleted during it', async () => {
    const { letters, handle, ids, asked, hold, release } = setUp();
    await settled({ letters, handle });
    await letters.park(letter(6));
    hold('entries');
    const tidying = letters.tidy();
    await settle();
    await letters.park(letter(7));
    await handle(6);
    release('entries');
    await tidying;
    await handle(7);
    expect(ids()).toEqual([]);
    const { remove } = asked();
    for (const number of [6, 7]) await handle(number);
    expect(asked().remove).toBe(remove);
  });

  it('deletes its dead letter that a former owner wrote during a listing that had begun before', async () => {
    const { letters, handle, place, ids, hold, release } = setUp();
    letters.takenOver('0');
    await handle(1);
    await seconds(19.9);
    hold('entries');
    const tidying = letters.tidy();
    await settle();
    await lettersIn({ ...place, entries: async () => [] }).park(letter(7));
    await seconds(0.2);
    release('entries');
    await tidying;
    await handle(7);
    expect(ids()).toEqual([]);
  });

  it('deletes its dead letter that was being written while the store could not be cleared, and was listed again', async () => {
    const { letters, handle, place, ids, hold, release } = setUp({ deviceLetters: 1 });
    await settled({ letters, handle });
    for (const number of [8, 9]) await lettersIn(place).park(letter(number));
    hold('write');
    void letters.park(letter(7));
    await settle();
    vi.spyOn(place, 'remove').mockRejectedValueOnce(new Error('forbidden'));
    for (let times = 0; times < 2; times += 1) await letters.tidy();
    release('write');
    await settle();
    expect(ids()).toContain(idOf(letter(7)));
    await handle(7);
    expect(ids()).toEqual([idOf(letter(9))]);
  });

  it('costs a look again when the partition has been taken over once more', async () => {
    const { letters, handle, asked } = setUp();
    await settled({ letters, handle });
    const before = asked();
    letters.takenOver('0');
    await handle(5);
    await handle(6);
    expect(asked()).toEqual({ ...before, entries: before.entries + 1 });
    await settled({ letters, handle });
    expect(asked()).toEqual({ remove: before.remove + 1, entries: before.entries + 3 });
  });

  it('costs a look in a partition that was taken over later, and none in the others', async () => {
    const { letters, handle, asked } = setUp();
    const ofLater = { origin: { hub: 'hub', partition: 'later-1' } };
    await settled({ letters, handle });
    letters.takenOver('later-1');
    const before = asked();
    await handle(5);
    await handle(5, ofLater);
    expect(asked()).toEqual({ ...before, entries: before.entries + 1 });
  });

  it('always costs a deletion without a session, as in a replay', async () => {
    const { letters, handle, asked } = setUp();
    await seconds(1);
    await letters.tidy();
    await seconds(1_000);
    await handle(1);
    await seconds(30);
    await handle(2);
    await settle();
    await handle(3);
    expect(asked()).toEqual({ remove: 3, entries: 1 });
  });

  it('costs a deletion while the store cannot be listed, which is tried again once a minute for all and for single devices', async () => {
    const { letters, handle, asked, place } = setUp();
    const list = vi.spyOn(place, 'entries').mockImplementation(() => {
      throw new Error('forbidden');
    });
    letters.takenOver('0');
    await handle(1);
    for (let number = 2; number <= 10; number += 1) await handle(number, { deviceId: `device-${number}` });
    expect(list).toHaveBeenCalledTimes(1);
    await seconds(20);
    for (let number = 11; number <= 20; number += 1) await handle(number);
    expect([asked().remove, list.mock.calls.length, letters.warnings.length]).toEqual([20, 2, 1]);
    await seconds(59);
    await handle(21);
    expect(list).toHaveBeenCalledTimes(2);
    list.mockRestore();
    await seconds(2);
    await handle(22);
    await settle();
    await handle(23);
    expect(asked()).toEqual({ remove: 22, entries: 1 });
  });

  it.each(['before', 'while'])(
    'deletes its dead letter that was beyond a limit and could not be deleted, %s it is handled',
    async (when) => {
      const { letters, handle, place, ids } = setUp({ deviceLetters: 1 });
      await settled({ letters, handle });
      for (const number of [7, 8]) await lettersIn(place).park(letter(number));
      let fail = () => {};
      vi.spyOn(place, 'remove').mockImplementationOnce(
        () => new Promise((_, reject) => (fail = () => reject(new Error('forbidden')))),
      );
      const tidying = letters.tidy();
      await settle();
      const handling = when === 'while' ? handle(7) : undefined;
      fail();
      await tidying;
      await (handling ?? handle(7));
      expect([letters.warnings, ids()]).toEqual([['dead letters cannot be deleted'], [idOf(letter(8))]]);
    },
  );
});

/** The session has begun, and the store has been listed since. */
async function settled({ letters, handle }: Pick<ReturnType<typeof setUp>, 'letters' | 'handle'>) {
  letters.takenOver('0');
  await handle(1);
  await seconds(20);
  await handle(1);
  await settle();
}

it('The partition in an id is found whatever its name', () => {
  for (const partition of ['0', '31', 'later-1', '$x'])
    expect(partitionOfId(idOf(letter(1, { origin: { hub: 'hub', partition } })))).toBe(partition);
});

const hourMs = 60 * 60_000;

it('Excess dead letters are deleted every hour, whether one is parked or not, and also after a failure', async () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const tidy = vi.fn(() => Promise.reject(new Error('not there')));
  const handling = createHandling(settings, log, {
    deadLetters: { ...lettersIn(createDirectory('no-such-directory')), tidy },
  });
  await vi.advanceTimersByTimeAsync(2 * hourMs);
  expect(tidy).toHaveBeenCalledTimes(2);
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(Array(2).fill('dead letters cannot be tidied up'));
  await handling.close();
  await vi.advanceTimersByTimeAsync(2 * hourMs);
  expect(tidy).toHaveBeenCalledTimes(2);
});
