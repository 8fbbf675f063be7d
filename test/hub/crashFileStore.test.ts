import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { createFileStore } from '../../src/hub/stores/fileStore.ts';
import { type Mortal, mortal } from '../support/mortal.ts';
import { at, readingLife, takeOver, toldNothing } from './support/readingLife.ts';

// The one instance dies before, in the middle of, or after each thing that it does to its file; the next process opens it.

interface Disk {
  life: Mortal | undefined;
  /** A process that dies leaves its files open; the system closes them. */
  readonly open: Set<FileHandle>;
}
const disk = vi.hoisted<Disk>(() => ({ life: undefined, open: new Set() }));
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>();
  const step = <T>(something: () => Promise<T>) => (disk.life ? disk.life.step(something) : something());
  return {
    ...real,
    rename: (from: string, to: string) => step(() => real.rename(from, to)),
    async open(path: string, flags: string, mode: number) {
      const file = await step(async () => {
        const opened = await real.open(path, flags, mode);
        disk.open.add(opened);
        return opened;
      });
      return {
        async writeFile(text: string) {
          const half = Math.floor(text.length / 2);
          await step(() => file.write(text.slice(0, half)));
          await step(() => file.write(text.slice(half)));
        },
        sync: () => step(() => file.sync()),
        close: () =>
          step(() => {
            disk.open.delete(file);
            return file.close();
          }),
      };
    },
  };
});

const directory = mkdtempSync(join(tmpdir(), 'deaths-'));
afterAll(() => rmSync(directory, { recursive: true }));

let places = 0;
/** A life over a fresh file, up to its end or its death. */
async function live(life: Mortal) {
  places += 1;
  const told = toldNothing();
  const place = join(directory, String(places));
  disk.life = life;
  await Promise.race([readingLife(createFileStore(place, 'hub'), told), life.death]);
  disk.life = undefined;
  await Promise.all([...disk.open].map((file) => file.close()));
  disk.open.clear();
  return { told, place };
}

it('whoever dies while it writes its file leaves the old one or the new one, and the next process reads and writes on', async () => {
  const unharmed = mortal(Number.POSITIVE_INFINITY);
  expect((await live(unharmed)).told.written).toBe(20);
  const points = unharmed.points();
  expect(points).toBeGreaterThan(40);
  for (let crashAt = 1; crashAt <= points; crashAt += 1) {
    const { told, place } = await live(mortal(crashAt));
    const where = `died at point ${crashAt} of ${points}`;
    const next = createFileStore(place, 'hub');
    const record = await takeOver(next, 'next');
    expect(record?.epoch, where).toBeGreaterThan(told.epoch);
    const { sequenceNumber = -1 } = (await next.progress('0')) ?? {};
    expect(sequenceNumber, where).toBeGreaterThanOrEqual(told.written);
    expect(sequenceNumber, where).toBeLessThanOrEqual(told.given);
    expect(record && (await next.writeProgress(record, at(30))), where).toBe(true);
    expect(await createFileStore(place, 'hub').progress('0'), where).toEqual(at(30));
    expect(readdirSync(place), where).toEqual(['hub.json']);
  }
});
