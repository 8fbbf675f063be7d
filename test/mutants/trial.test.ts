import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRunner, type Mutant, type Runner, tryMutants, type Verdict } from '../../scripts/mutants/runner.ts';

/** Not as an import of this file. */
const ofEmulator = 'iot-hub-emulator';

const code = {
  'src/sum.ts': 'export const sum = (a: number, b: number) => a + b;\n',
  'src/other.ts': 'export const other = 1;\n',
  // What a test imports of the emulator has another place when it is built.
  'src/emulator.ts': `import url from '${ofEmulator}/limits?url';\nexport const isFromSources = url.endsWith('.ts');\n`,
  'src/wait.ts': `
import { setTimeout } from 'node:timers/promises';
export async function wait(): Promise<void> {
  await setTimeout(1);
}
`,
  'test/one.test.ts': `
import { expect, it } from 'vitest';
import { isFromSources } from '../src/emulator.ts';
import { sum } from '../src/sum.ts';
it('a sum is that of two numbers', () => expect(sum(1, 2)).toBe(3));
it('the hub emulator comes from its sources', () => expect(isFromSources).toBe(true));
`,
  'test/two.test.ts': `
import { expect, it } from 'vitest';
import { sum } from '../src/sum.ts';
import { wait } from '../src/wait.ts';
it('a sum of nothing is nothing', () => expect(sum(0, 0)).toBe(0));
it('waits', () => wait());
`,
  'test/wrong.test.ts': `
import { expect, it } from 'vitest';
import { other } from '../src/other.ts';
it('fails as the code is', () => expect(other).toBe(2));
`,
};
type File = keyof typeof code;

const change = (name: string, file: File, find: string, replace: string): Mutant => ({
  name,
  file,
  text: code[file].replace(find, replace),
});
const inWait = (name: string, replace: string) => change(name, 'src/wait.ts', 'await setTimeout(1);', replace);

const mutants = [
  change('is noticed by the first file', 'src/sum.ts', 'a + b', 'a - b'),
  change('is noticed by the second file', 'src/sum.ts', 'a + b', 'a === 0 ? 1 : a + b'),
  change('makes no difference', 'src/sum.ts', 'a + b', 'b + a'),
  change('is in a file whose only test always fails', 'src/other.ts', '1', '3'),
  change('is no code', 'src/sum.ts', 'a + b', 'a +'),
  change('is in what comes from the hub emulator', 'src/emulator.ts', 'url.endsWith', '!url.endsWith'),
  inWait('never answers', 'await new Promise(() => {});'),
  inWait('ends the process', "process.kill(process.pid, 'SIGKILL');"),
  inWait('never ends', 'for (;;);'),
];
const testFiles: Partial<Record<string, readonly string[]>> = {
  'src/sum.ts': ['test/one.test.ts', 'test/two.test.ts'],
  'src/other.ts': ['test/wrong.test.ts'],
  'src/emulator.ts': ['test/one.test.ts'],
  'src/wait.ts': ['test/two.test.ts'],
};

let root: string;
let runners: readonly Runner[] = [];
const verdicts = new Map<string, Verdict>();

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'trial-')));
  for (const folder of ['src', 'test', 'tmp']) mkdirSync(join(root, folder));
  for (const [name, text] of Object.entries(code)) writeFileSync(join(root, name), text);
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  runners = [1, 2].map(() => createRunner(root, join(root, 'tmp')));
  await tryMutants({
    mutants: [...mutants, { name: 'is in a file that no test loads', file: 'src/none.ts', text: '' }],
    runners,
    testMs: 1_000,
    fileMs: 30_000,
    testFilesFor: ({ file }) => testFiles[file] ?? [],
    onVerdict: (verdict) => void verdicts.set(verdict.mutant.name, verdict),
  });
});
afterAll(() => {
  for (const runner of runners) runner.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
});

it.each([
  ['is noticed by the first file', 'test/one.test.ts: a sum is that of two numbers'],
  ['is noticed by the second file', 'test/two.test.ts: a sum of nothing is nothing'],
  ['is in what comes from the hub emulator', 'test/one.test.ts: the hub emulator comes from its sources'],
  ['never answers', 'test/two.test.ts: waits'],
])('a change that %s: %s', (name, noticedBy) => expect(verdicts.get(name)?.noticedBy).toBe(noticedBy));

it.each([
  ['ends the process', /^test\/two\.test\.ts: .+/],
  ['never ends', /^test\/two\.test\.ts: did not end within 30 s$/],
])('a change that %s is noticed', (name, noticedBy) => expect(verdicts.get(name)?.noticedBy).toMatch(noticedBy));

it.each([
  ['makes no difference', /^none of 2 test files failed$/],
  ['is in a file whose only test always fails', /^none of 1 test files failed$/],
  ['is no code', /^is no code: /],
  ['is in a file that no test loads', /^no test loads the file$/],
])('a change that %s is not noticed', (name, why) => {
  expect(verdicts.get(name)).toMatchObject({ why: expect.stringMatching(why) });
  expect(verdicts.get(name)).not.toHaveProperty('noticedBy');
});

it('leaves the files unchanged', () => {
  for (const [name, text] of Object.entries(code)) expect(readFileSync(join(root, name), 'utf8')).toBe(text);
});
