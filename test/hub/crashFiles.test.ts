import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { folderOf } from '../../src/stores/deadLetter.ts';
import { createFileStore } from '../../src/stores/fileCheckpoints.ts';
import { allLetters, lettersInDirectory, letter as newLetter } from '../support/letters.ts';
import { crashingAt, neverCrashing, type ProcessLife } from '../support/processLife.ts';
import { takeOver } from './support/claims.ts';
import { onCrashingDisk } from './support/crashingDisk.ts';
import { at, readingLife, toldNothing } from './support/readingLife.ts';

// The one instance dies before, in the middle of, or after each thing that it does to its file; the next process opens it.

vi.mock('node:fs/promises', async (fs) => (await import('./support/crashingDisk.ts')).crashingFiles(await fs()));

const directory = folderForAll('deaths-on-disk');

let places = 0;
/** A life over a fresh file, up to its end or its death. */
async function live(life: ProcessLife) {
  places += 1;
  const told = toldNothing();
  const place = join(directory, String(places));
  await onCrashingDisk(life, () => readingLife(createFileStore(place, 'hub'), told));
  return { told, place };
}

it('an instance that dies while it writes its file leaves the old or the new one, and the next process continues with it', async () => {
  const unharmed = neverCrashing();
  expect((await live(unharmed)).told.written).toBe(20);
  const points = unharmed.points();
  expect(points).toBeGreaterThan(40);
  for (let crashAt = 1; crashAt <= points; crashAt += 1) {
    const { told, place } = await live(crashingAt(crashAt));
    const where = `died at point ${crashAt} of ${points}`;
    const next = createFileStore(place, 'hub');
    const record = await takeOver(next, 'next');
    expect(record.epoch, where).toBeGreaterThan(told.epoch);
    const found = await next.progress('0');
    const { sequenceNumber = -1 } = found ?? {};
    if (found) expect(found, where).toEqual(at(sequenceNumber));
    expect(sequenceNumber, where).toBeGreaterThanOrEqual(told.written);
    expect(sequenceNumber, where).toBeLessThanOrEqual(told.given);
    expect(await next.writeCheckpoint(record, at(30)), where).toBe(true);
    expect(await createFileStore(place, 'hub').progress('0'), where).toEqual(at(30));
    expect(readdirSync(place), where).toEqual(['hub.json']);
  }
});

// The process dies before, in the middle of, or after each thing that it does to the files of its dead letters. The next
// process is given the message again, for it cannot have been checkpointed, and parks it again.

/** Parks a second dead letter of a device, up to its end or its death. */
async function park(life: ProcessLife) {
  places += 1;
  const place = join(directory, String(places));
  await lettersInDirectory(place).park(newLetter(1));
  let isParked = false;
  await onCrashingDisk(life, async () => {
    await lettersInDirectory(place).park(newLetter(2));
    isParked = true;
  });
  return { place, isParked };
}

const numbersIn = async (place: string) =>
  (await allLetters(lettersInDirectory(place))).map(({ letter }) => letter.event.sequenceNumber);

it('an instance that dies while it parks a dead letter leaves all of it or nothing, and does not damage others', async () => {
  const unharmed = neverCrashing();
  expect((await park(unharmed)).isParked).toBe(true);
  const points = unharmed.points();
  expect(points).toBeGreaterThan(10);
  for (let crashAt = 1; crashAt <= points; crashAt += 1) {
    const { place, isParked } = await park(crashingAt(crashAt));
    const where = `died at point ${crashAt} of ${points}`;
    expect(isParked, where).toBe(false);
    expect([[1], [1, 2]], where).toContainEqual(await numbersIn(place));
    await lettersInDirectory(place).park(newLetter(2));
    expect(await numbersIn(place), where).toEqual([1, 2]);
  }
});

it('a dead letter is parked although another process removes the empty folder of its device meanwhile, and not without end', async () => {
  places += 1;
  const place = join(directory, String(places));
  const removing = (times: number): ProcessLife => ({
    ...neverCrashing(),
    step(something) {
      if (times-- > 0) rmSync(join(place, folderOf('d1')), { recursive: true, force: true });
      return something();
    },
  });
  await onCrashingDisk(removing(1), () => lettersInDirectory(place).park(newLetter(1)));
  expect(await numbersIn(place)).toEqual([1]);
  const parking = onCrashingDisk(removing(1_000), () => lettersInDirectory(place).park(newLetter(2)));
  await expect(parking).rejects.toThrow('ENOENT');
});
