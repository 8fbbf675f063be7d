import { existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { makeDirectory } from '../../src/storage/makeDirectory.ts';

const directory = folderForEach('made');

it('a folder is created with its parents, for its owner alone, and an existing one stays unchanged', () => {
  const folder = join(directory, 'a', 'b', 'c');
  makeDirectory(folder);
  expect(['a', 'a/b', 'a/b/c'].map((name) => statSync(join(directory, name)).mode & 0o777)).toEqual([
    0o700, 0o700, 0o700,
  ]);
  writeFileSync(join(folder, 'kept'), '');
  makeDirectory(folder);
  expect(readdirSync(folder)).toEqual(['kept']);
});

it('a link to a folder is followed', () => {
  symlinkSync(directory, join(directory, 'link'));
  makeDirectory(join(directory, 'link', 'a'));
  expect(existsSync(join(directory, 'a'))).toBe(true);
});

it.each([
  ['a file is in its place', 'file', 'ENOTDIR'],
  ['a file is above it', 'file/a/b', 'ENOTDIR'],
  ['a link to nothing is in its place', 'link', 'ENOENT'],
])('creating a folder fails when %s', (_what, path, code) => {
  writeFileSync(join(directory, 'file'), '');
  symlinkSync(join(directory, 'nowhere'), join(directory, 'link'));
  expect(() => makeDirectory(join(directory, path))).toThrow(code);
});

it('creating a folder ends where the file system accepts none', () =>
  expect(() => makeDirectory('/proc/nothing/a/b')).toThrow('ENOENT'));
