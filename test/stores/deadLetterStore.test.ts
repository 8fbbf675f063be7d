import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { idOf, type LetterStorage, print } from '../../src/stores/deadLetter.ts';
import type { DeadLetters } from '../../src/stores/deadLetterStore.ts';
import { createBlobs } from '../../src/stores/labelledBlobs.ts';
import { createDirectory } from '../../src/stores/letterFiles.ts';
import type { DeadLetterLimits } from '../../src/stores/letterLimits.ts';
import { allLetters, letter, lettersIn } from '../support/letters.ts';
import { storageForAll } from '../support/storageAccount.ts';

const directory = folderForEach('letters');
const storage = storageForAll();
let containers = 0;
beforeEach(() => (containers += 1));

/** Generous: a busy machine is slow, and what hangs is ended all the same. */
const patience = { attemptMs: 200_000, attempts: 3, pauseMs: 200, verbMs: 400_000 };

const places: Record<string, () => LetterStorage> = {
  directory: () => createDirectory(join(directory, 'letters')),
  container: () =>
    createBlobs({ account: storage.connectionString, container: `letters-${containers}`, limits: patience }),
};

const sequenceNumbers = async (letters: DeadLetters, deviceId?: string) =>
  (await allLetters(letters, { device: deviceId })).map((one) => one.letter.event.sequenceNumber);

describe.each(Object.entries(places))('dead letters in a %s', (_kind, createPlace) => {
  const open = (limits: Partial<DeadLetterLimits> = {}) => lettersIn(createPlace(), limits);

  it('come back byte for byte', async () => {
    const kept = letter(7, { details: 'ä€𝄞' });
    await open().park(kept);
    const [filed] = await allLetters(open());
    expect(filed?.letter).toMatchObject({ ...kept, event: { ...kept.event, properties: { n: '7' } } });
    expect(Buffer.from(filed?.letter.event.body as Uint8Array).equals(Buffer.from([0, 255, 7]))).toBe(true);
  });

  it('are an empty list before the first', async () => {
    expect(await open().ids()).toEqual([]);
    expect(await open().read(idOf(letter(1)))).toBeUndefined();
    await open().remove(idOf(letter(1)));
    await open().tidy();
  });

  it('are listed in the order of the hub for each device, whenever they were parked', async () => {
    const letters = open();
    for (const number of [30, 4, 100]) await letters.park(letter(number));
    await letters.park(letter(5, { deviceId: 'd2' }));
    expect(await sequenceNumbers(letters, 'd1')).toEqual([4, 30, 100]);
    expect(await sequenceNumbers(letters, 'd2')).toEqual([5]);
    expect(await sequenceNumbers(letters)).toHaveLength(4);
  });

  it('are one per message, even if it is parked again or twice at once', async () => {
    const letters = open();
    await Promise.all([letters.park(letter(1)), letters.park(letter(1))]);
    await letters.park(letter(1, { attempts: 2 }));
    expect((await allLetters(letters)).map((one) => one.letter.attempts)).toEqual([2]);
  });

  it('can be removed, and removed a second time without an error', async () => {
    const letters = open();
    await letters.park(letter(1));
    await letters.remove(idOf(letter(1)));
    await letters.remove(idOf(letter(1)));
    expect(await letters.read(idOf(letter(1)))).toBeUndefined();
  });

  it('of one device stay within its quota of bytes, and displace none of another device', async () => {
    const large = (number: number, deviceId: string) => letter(number, { deviceId, details: 'x'.repeat(5_000) });
    const bytes = Buffer.byteLength(print(large(1, 'large')));
    const letters = open({ deviceBytes: 2 * bytes, maxBytes: 4 * bytes });
    await letters.park(letter(1, { deviceId: 'quiet' }));
    for (const number of [1, 2]) await letters.park(large(number, 'large'));
    for (const number of [3, 4, 5, 6]) await expect(letters.park(large(number, 'large'))).rejects.toThrow('as many');
    await letters.tidy();
    expect(await sequenceNumbers(letters, 'large')).toEqual([1, 2]);
    expect(await sequenceNumbers(letters, 'quiet')).toEqual([1]);
  });

  it('never have more bytes than the limit of all', async () => {
    const one = Buffer.byteLength(print(letter(1)));
    const letters = open({ maxBytes: 3 * one + 10 });
    for (const number of [1, 2, 3, 4, 5]) await letters.park(letter(number));
    await expect.poll(() => sequenceNumbers(letters)).toEqual([3, 4, 5]);
  });

  it('are all stored when many are parked at once', async () => {
    const letters = open();
    await Promise.all(Array.from({ length: 100 }, (_, n) => letters.park(letter(n, { deviceId: `d${n % 10}` }))));
    expect(await letters.ids()).toHaveLength(100);
  });

  it('keep to the limits together with those that another instance parks', async () => {
    const [one, two] = [open({ maxLetters: 10 }), open({ maxLetters: 10 })];
    for (let number = 0; number < 8; number += 1) {
      await one.park(letter(number, { deviceId: 'one' }));
      await two.park(letter(number, { deviceId: 'two' }));
    }
    await one.tidy();
    await one.tidy(); // the first may have been a listing that had begun before
    expect(await two.ids()).toHaveLength(10);
  });

  it('that are invalid are named when they are read, and do not count', async () => {
    const letters = open({ maxLetters: 1 });
    const id = idOf(letter(1));
    const place = createPlace();
    await letters.park(letter(1));
    await place.write(id, '{"format":1,');
    await expect(letters.read(id)).rejects.toThrow(`${id} is no dead letter of format 1`);
    await place.write(id, print(letter(2)));
    await expect(letters.read(id)).rejects.toThrow(`${id} is the dead letter of another message`);
    await place.write('notes', 'secret');
    await letters.tidy();
    await letters.park(letter(3));
    await letters.tidy();
    expect(await letters.ids()).toEqual([idOf(letter(3)), 'notes']);
    await expect(letters.read('notes')).rejects.toThrow('notes is no name of a dead letter');
  });
});

it('dead letters that the store does not take do not count: it is not listed for them', async () => {
  const place = createDirectory(join(directory, 'letters'));
  const letters = lettersIn(place, { maxLetters: 100 });
  await letters.tidy();
  const list = vi.spyOn(place, 'entries');
  const write = vi.spyOn(place, 'write').mockRejectedValue(new Error('no'));
  for (let number = 0; number < 30; number += 1) await expect(letters.park(letter(number))).rejects.toThrow('no');
  write.mockRestore();
  await letters.park(letter(30, { deviceId: 'd2' }));
  expect(list.mock.calls.filter(([folder]) => folder === undefined)).toEqual([]);
});
