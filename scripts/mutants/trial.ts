import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../../test/mutants/faults.ts';
import { type Seen, type SeenTest, standsOnce } from './attempt.ts';
import type { Runner } from './runner.ts';

/** What came of one fault. */
export interface Verdict {
  readonly fault: Fault;
  readonly isCaught: boolean;
  /** What happened instead. */
  readonly why: string;
}

export interface Trial {
  readonly root: string;
  readonly faults: readonly Fault[];
  /** Those that are used at the same time. */
  readonly runners: readonly Runner[];
  /**
   * How long a test may take with a fault, for some wait for what never comes: so much more than ten times as long as
   * without; and how long each thing around it may take.
   */
  readonly patience: { readonly testMs: number; readonly hookMs: number };
  /** Called when the tests have run without a fault. */
  readonly onReady: (testFiles: number) => void;
  readonly onVerdict: (verdict: Verdict) => void;
}

const withoutFault = { testMs: 240_000, hookMs: 60_000 };

/**
 * Runs the tests that are to notice the faults: first without a fault, then for each fault those with its words. A fault
 * is caught when a test fails with it that names the rule and passes without it.
 */
export async function tryFaults({ root, faults, runners, patience, onReady, onVerdict }: Trial): Promise<void> {
  const filesOf = (fault: Fault) => fault.tests.flatMap((path) => testFiles(root, path));
  const before = new Map<string, Seen>();
  await shareOut(runners, [...new Set(faults.flatMap(filesOf))], async (runner, testFile) => {
    const words = faults.filter((fault) => filesOf(fault).includes(testFile)).map(({ caughtBy }) => caughtBy);
    const trying = runner.run({ testFile, words, ...withoutFault }, longest(withoutFault));
    before.set(testFile, await trying.catch(({ message }: Error): Seen => ({ tests: [], troubles: [message] })));
  });
  onReady(before.size);

  const testsBefore = (testFile: string, { caughtBy }: Fault): readonly SeenTest[] =>
    before.get(testFile)?.tests.filter(({ title }) => title.includes(caughtBy)) ?? [];
  const longestBefore = (fault: Fault) =>
    Math.max(0, ...filesOf(fault).flatMap((testFile) => testsBefore(testFile, fault).map(({ ms }) => ms)));

  /** Why it is not caught; empty when it is. */
  async function judge(runner: Runner, fault: Fault): Promise<string> {
    const { file, find, caughtBy } = fault;
    if (!standsOnce(readFileSync(join(root, file), 'utf8'), fault)) return `${file} must contain exactly once: ${find}`;
    const files = filesOf(fault).filter((testFile) => testsBefore(testFile, fault).length > 0);
    const failing = files.find((testFile) => testsBefore(testFile, fault).some(({ hasPassed }) => !hasPassed));
    if (failing !== undefined) return `the test fails without the fault, too: ${failing}`;
    const whys: string[] = [];
    for (const testFile of files) {
      const limits = { testMs: patience.testMs + 10 * longestBefore(fault), hookMs: patience.hookMs };
      const longestMs = longest(limits, testsBefore(testFile, fault).length);
      const attempt = { testFile, words: [caughtBy], ...limits };
      const { tests, troubles } = await runner.run({ ...attempt, change: fault }, longestMs);
      const failed = tests.filter(({ hasPassed }) => !hasPassed);
      if (failed.some(({ hasTimedOut }) => !hasTimedOut)) return '';
      whys.push(...troubles);
      if (failed.length === 0) continue;
      // The test waits for what never comes, unless the machine is slow: then it takes too long without the fault, too.
      const { tests: again } = await runner.run(attempt, longestMs);
      if (again.length > 0 && again.every(({ hasPassed }) => hasPassed)) return '';
      whys.push(`the machine is too slow for ${testFile}`);
    }
    if (files.length > 0) return whys.join('; ') || 'no test failed';
    const troubles = filesOf(fault).flatMap((testFile) => before.get(testFile)?.troubles ?? []);
    return ['no test has these words in its title', ...troubles].join('; ');
  }

  const slowestFirst = [...faults].sort((one, other) => longestBefore(other) - longestBefore(one));
  await shareOut(runners, slowestFirst, async (runner, fault) => {
    const why = await judge(runner, fault).catch(({ message }: Error) => message);
    onVerdict({ fault, isCaught: why === '', why });
  });
}

/** Of so many tests, with a new process, what comes before and what comes after. */
const longest = ({ testMs, hookMs }: Trial['patience'], tests = 1): number => tests * testMs + 3 * hookMs;

/** Those of a folder when it is one. */
const testFiles = (root: string, path: string): readonly string[] =>
  path.endsWith('.test.ts')
    ? [path]
    : readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.test.ts'))
        .map((name) => join(path, name));

/** Each runner takes the next one as soon as it is free. */
async function shareOut<T>(
  runners: readonly Runner[],
  all: readonly T[],
  work: (runner: Runner, one: T) => Promise<void>,
): Promise<void> {
  const queue = all.values();
  await Promise.all(
    runners.map(async (runner) => {
      for (const one of queue) await work(runner, one);
    }),
  );
}
