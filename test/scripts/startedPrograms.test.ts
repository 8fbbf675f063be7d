import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { filesBelow, importsOf } from '../support/imports.ts';

// A test run that is killed leaves no process: each program that it starts ends with it.

it('tests, sandbox and scripts start programs only through the module that ends them', () => {
  const files = ['test', 'iot-hub-emulator/test', 'sandbox', 'scripts'].flatMap(filesBelow);
  const starting = files.filter((file) => importsOf(file).includes('node:child_process'));
  const offenders = starting.filter((file) => !hasNothingAsynchronous(readFileSync(file, 'utf8')));
  expect(offenders).toEqual(['sandbox/service/endWithUs.ts']);
});

/** Types, and functions that return when the program has ended. */
function hasNothingAsynchronous(text: string): boolean {
  const imports = text.match(/.*'node:child_process'.*/g) ?? [];
  return imports.every((line) => /^import (type \{ [\w, ]+|\{ \w+Sync(, \w+Sync)*) \} from/.test(line));
}
