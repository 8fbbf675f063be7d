import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRunner } from '../../scripts/mutants/runner.ts';
import { tryFaults, type Verdict } from '../../scripts/mutants/trial.ts';
import type { Fault } from './faults.ts';

/** What the test imports of it has another place when it is built. */
const ofEmulator = 'iot-hub-emulator/limits';

const code = {
  'src/sum.ts': 'export const sum = (a: number, b: number) => a + b;\n',
  'src/other.ts': 'export const other = 1;\n',
  'src/emulator.ts': `
import url from '${ofEmulator}?url';
export const isFromSources = url.endsWith('.ts');
`,
  'src/wait.ts': `
import { setTimeout } from 'node:timers/promises';
export async function wait(): Promise<void> {
  await setTimeout(1);
}
`,
  'test/sum.test.ts': `
import { describe, expect, it } from 'vitest';
import { isFromSources } from '../src/emulator.ts';
import { sum } from '../src/sum.ts';
import { wait } from '../src/wait.ts';
describe('a sum', () => {
  it('is that of two numbers', () => expect(sum(1, 2)).toBe(3));
  it('is the same in either order', () => expect(sum(1, 2)).toBe(sum(2, 1)));
  it('can be wrong', () => expect(sum(1, 2)).toBe(4));
});
it('waits', () => wait());
it('has the hub emulator from its sources', () => expect(isFromSources).toBe(true));
`,
};

const sum = (entry: Partial<Fault> & Pick<Fault, 'fault'>): Fault => ({
  file: 'src/sum.ts',
  find: 'a + b',
  replace: 'a - b',
  tests: ['test'],
  caughtBy: 'a sum is that of two numbers',
  ...entry,
});
const waiting = { file: 'src/wait.ts', find: 'await setTimeout(1);', caughtBy: 'waits' };

const faults = [
  sum({ fault: 'is caught' }),
  sum({ fault: 'is put in alone', replace: 'b + a' }),
  sum({ fault: 'is noticed by another test only', replace: 'a * b', caughtBy: 'is the same in either order' }),
  sum({ fault: 'has lost its place', find: 'a * b' }),
  sum({ fault: 'is in a file that the test does not load', file: 'src/other.ts', find: '1', replace: '2' }),
  sum({ fault: 'is meant for a test that is not there', caughtBy: 'is that of three numbers' }),
  sum({ fault: 'is meant for a test that always fails', caughtBy: 'can be wrong' }),
  sum({ fault: 'is no code', replace: 'a +' }),
  sum({
    ...{
      fault: 'is in what comes from the hub emulator',
      file: 'src/emulator.ts',
      find: 'url.endsWith',
      replace: '!url.endsWith',
    },
    caughtBy: 'has the hub emulator from its sources',
  }),
  sum({ ...waiting, fault: 'never answers', replace: 'await new Promise(() => {});' }),
  sum({ ...waiting, fault: 'ends the process', replace: "process.kill(process.pid, 'SIGKILL');" }),
];

const endless = sum({ ...waiting, fault: 'never ends', replace: 'for (;;);' });

let root: string;
const verdicts = new Map<string, Verdict>();
const tested: number[] = [];

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'trial-')));
  for (const folder of ['src', 'test', 'tmp']) mkdirSync(join(root, folder));
  for (const [name, text] of Object.entries(code)) writeFileSync(join(root, name), text);
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'));
  const runners = [1, 2].map(() => createRunner(root, join(root, 'tmp')));
  const common = {
    root,
    runners,
    onReady: (testFiles: number) => void tested.push(testFiles),
    onVerdict: (verdict: Verdict) => void verdicts.set(verdict.fault.fault, verdict),
  };
  await tryFaults({ ...common, faults, patience: { testMs: 500, hookMs: 20_000 } });
  await tryFaults({ ...common, faults: [endless], patience: { testMs: 500, hookMs: 1_000 } });
  for (const runner of runners) runner.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));

it.each([
  ['is caught', ''],
  ['is put in alone', 'no test failed'],
  ['is noticed by another test only', 'no test failed'],
  ['has lost its place', 'src/sum.ts must contain exactly once: a * b'],
  ['is in a file that the test does not load', 'test/sum.test.ts does not load src/other.ts'],
  ['is meant for a test that is not there', 'no test has these words in its title'],
  ['is meant for a test that always fails', 'the test fails without the fault, too: test/sum.test.ts'],
  ['is in what comes from the hub emulator', ''],
  ['never answers', ''],
])('a fault that %s: %j', (fault, why) => {
  const verdict = verdicts.get(fault);
  expect({ isCaught: verdict?.isCaught, why: verdict?.why }).toEqual({ isCaught: why === '', why });
});

it.each([
  ['is no code', /src\/sum\.ts|Unexpected|parse/i],
  ['ends the process', /error/i],
  ['never ends', /^did not end within [\d.]+ s$/],
])('a fault that %s is not caught by any test', (fault, why) => {
  expect(verdicts.get(fault)).toMatchObject({ isCaught: false, why: expect.stringMatching(why) });
});

it('the tests run once without a fault, file by file, and the files stay unchanged', () => {
  expect(tested).toEqual([1, 1]);
  expect(readFileSync(join(root, 'src/sum.ts'), 'utf8')).toBe(code['src/sum.ts']);
});
