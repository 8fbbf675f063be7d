import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { isUpToDate } from '../../sandbox/service/upToDate.ts';

const files = [
  ...['src/programs/main.ts', 'src/hub/reader.ts', 'edge/src/main.ts', 'telemetry/src/log.ts', 'tsconfig.json'],
  ...['scripts/build.js', 'scripts/build/notices.js', 'scripts/run/sourceMap.js', 'scripts/run/nodeVersion.js'],
  ...['package.json', 'edge/package.json', 'LICENSE'], // which the bill of materials and the notices have
  ...['backend-kit/main.ts', 'node_modules/.package-lock.json', 'tsconfig.build.json', 'edge/tsconfig.json'],
  ...['page/src/kit/route.ts', 'page/server/pageFiles.ts', 'page/index.html', 'page/style.css', 'page/icon.svg'],
];
const programs = ['dist/main.js', 'edge/dist/main.js', 'page/dist/page.js'];

const directory = folderForEach('built');
/** All was written at second 1,000 and built at second 2,000. */
beforeEach(() => {
  for (const file of [...files, ...programs]) {
    mkdirSync(join(directory, dirname(file)), { recursive: true });
    writeFileSync(join(directory, file), '');
  }
  for (const path of [...files, 'src', 'telemetry', 'page/src', ...files.map(dirname)]) at(path, 1_000);
  for (const path of programs) at(path, 2_000);
});

const at = (path: string, second: number) => utimesSync(join(directory, path), second, second);

it('a build is up to date when no source was written since', async () =>
  expect(await isUpToDate(directory)).toBe(true));

it('a build is up to date after one that had nothing to write for the edge proxy', async () => {
  at('tsconfig.json', 3_000);
  at('dist/main.js', 4_000);
  expect(await isUpToDate(directory)).toBe(true);
});

it.each(files)('a build is out of date when %s was written later', async (file) => {
  at(file, 3_000);
  expect(await isUpToDate(directory)).toBe(false);
});

it.each(['src/hub/new.ts', 'edge/src/new.ts'])(
  'a build is out of date when %s was added, however old',
  async (file) => {
    writeFileSync(join(directory, file), '');
    at(file, 1_000);
    expect(await isUpToDate(directory)).toBe(false);
  },
);

it('a build is out of date when a file was removed', async () => {
  rmSync(join(directory, 'src/hub/reader.ts'));
  expect(await isUpToDate(directory)).toBe(false);
});
it.each(programs)('a build is out of date without %s', async (program) => {
  rmSync(join(directory, program));
  expect(await isUpToDate(directory)).toBe(false);
});
