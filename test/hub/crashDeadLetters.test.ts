import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { folderOf } from '../../src/deadLetters/deadLetter.ts';
import { allLetters, lettersInDirectory, letter as newLetter } from '../support/letters.ts';
import { crashingAt, neverCrashing, type ProcessLife } from '../support/processLife.ts';
import { onCrashingDisk } from './support/crashingDisk.ts';

// The process dies before, in the middle of, or after each thing that it does to the files of its dead letters. The next
// process is given the message again, for it cannot have been checkpointed, and parks it again.

vi.mock('node:fs/promises', async (original) =>
  (await import('./support/crashingDisk.ts')).crashingFiles(await original()),
);

const directory = folderForAll('dying-letters');

let places = 0;
/** Parks a second dead letter of a device, up to its end or its death. */
async function live(life: ProcessLife) {
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
  expect((await live(unharmed)).isParked).toBe(true);
  const points = unharmed.points();
  expect(points).toBeGreaterThan(10);
  for (let crashAt = 1; crashAt <= points; crashAt += 1) {
    const { place, isParked } = await live(crashingAt(crashAt));
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
