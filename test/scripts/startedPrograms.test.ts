import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

// A test run that is killed leaves no process: each program that it starts is told to end with it.

const starts = /\b(?:spawn|fork|execFile)\(/g;
const ends = /\bendWithUs\(/g;

it('every program that a test, the sandbox or a script starts ends with it', () => {
  const files = ['test', 'sandbox', 'scripts']
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.ts') && file !== 'sandbox/service/endWithUs.ts');
  const count = (text: string, what: RegExp) => text.match(what)?.length ?? 0;
  const forgotten = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    return count(text, starts) > count(text, ends);
  });
  expect(files.length).toBeGreaterThan(100);
  expect(forgotten).toEqual([]);
});
