import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createFileStore } from '../../src/hub/stores/fileStore.ts';
import { crashingAt, neverCrashing, type ProcessLife } from '../support/processLife.ts';
import { takeOver } from './support/claims.ts';
import { onCrashingDisk } from './support/crashingDisk.ts';
import { at, readingLife, toldNothing } from './support/readingLife.ts';

// The one instance dies before, in the middle of, or after each thing that it does to its file; the next process opens it.

vi.mock('node:fs/promises', async (original) =>
  (await import('./support/crashingDisk.ts')).crashingFiles(await original()),
);

const directory = folderForAll('deaths');

let places = 0;
/** A life over a fresh file, up to its end or its death. */
async function live(life: ProcessLife) {
  places += 1;
  const told = toldNothing();
  const place = join(directory, String(places));
  await onCrashingDisk(life, () => readingLife(createFileStore(place, 'hub', 30_000), told));
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
    const next = createFileStore(place, 'hub', 30_000);
    const record = await takeOver(next, 'next');
    expect(record.epoch, where).toBeGreaterThan(told.epoch);
    const found = await next.progress('0');
    const { sequenceNumber = -1 } = found ?? {};
    if (found) expect(found, where).toEqual(at(sequenceNumber));
    expect(sequenceNumber, where).toBeGreaterThanOrEqual(told.written);
    expect(sequenceNumber, where).toBeLessThanOrEqual(told.given);
    expect(await next.writeProgress(record, at(30)), where).toBe(true);
    expect(await createFileStore(place, 'hub', 30_000).progress('0'), where).toEqual(at(30));
    expect(readdirSync(place), where).toEqual(['hub.json']);
  }
});
