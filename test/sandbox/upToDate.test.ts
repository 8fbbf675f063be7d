import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { isUpToDate } from '../../sandbox/service/upToDate.ts';

const files = [
  ...['src/main.ts', 'src/hub/reader.ts', 'scripts/build.js', 'scripts/run/sourceMap.js', 'edge/src/main.ts'],
  ...['tsconfig.json', 'tsconfig.build.json', 'edge/tsconfig.json'],
];
const marks = ['dist/main.js', 'edge/dist/.tsbuildinfo'];

let directory: string;
/** All was written at second 1,000 and built at second 2,000. */
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'built-'));
  for (const file of [...files, ...marks]) {
    mkdirSync(join(directory, dirname(file)), { recursive: true });
    writeFileSync(join(directory, file), '');
  }
  for (const path of [...files, 'src', 'src/hub', 'edge/src']) at(path, 1_000);
  for (const path of marks) at(path, 2_000);
});
afterEach(() => rmSync(directory, { recursive: true }));

const at = (path: string, second: number) => utimesSync(join(directory, path), second, second);

it('is up to date when nothing has been written since the build', async () => {
  expect(await isUpToDate(directory)).toBe(true);
});

it.each(files)('is not when %s was written later', async (file) => {
  at(file, 3_000);
  expect(await isUpToDate(directory)).toBe(false);
});

it.each(['src/hub/new.ts', 'edge/src/new.ts'])('is not when %s was added, however old it is', async (file) => {
  writeFileSync(join(directory, file), '');
  at(file, 1_000);
  expect(await isUpToDate(directory)).toBe(false);
});

it('is not when a file was removed', async () => {
  rmSync(join(directory, 'src/hub/reader.ts'));
  expect(await isUpToDate(directory)).toBe(false);
});

it.each(marks)('is not when nothing was built: no %s', async (mark) => {
  rmSync(join(directory, mark));
  expect(await isUpToDate(directory)).toBe(false);
});
