import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../../test/mutants/faults.ts';
import { testFilesOf } from '../../test/mutants/titles.ts';
import { type Attempt, type Seen, type SeenTest, standsOnce } from './attempt.ts';
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

/** So many faults share a process at most: what they leave there adds up, and at the end no runner has much more to do than others. */
const mostTogether = 12;

/**
 * Runs the tests that are to notice the faults: first without a fault, then for each fault those with its words. A fault
 * is caught when a test fails with it that names the rule and passes without it.
 *
 * Faults of one test file share a process, whose start takes longer than most tests. Something of one fault may be left there
 * for the next, so what no test notices there is tried again alone; and at the end the tests run there without a fault: if
 * one fails, all are tried again, each in a new process (D391).
 */
export async function tryFaults({ root, faults, runners, patience, onReady, onVerdict }: Trial): Promise<void> {
  const filesOf = (fault: Fault) => testFilesOf(fault, root);
  const before = new Map<string, Seen>();
  await shareOut(runners, [...new Set(faults.flatMap(filesOf))], async (runner, testFile) => {
    const words = faults.filter((fault) => filesOf(fault).includes(testFile)).map(({ caughtBy }) => caughtBy);
    const trying = runner.run({ testFile, words, inNewProcess: true, ...withoutFault }, longest(withoutFault));
    before.set(testFile, await trying.catch(failedToRun));
  });
  onReady(before.size);

  const testsBefore = (testFile: string, { caughtBy }: Fault): readonly SeenTest[] =>
    before.get(testFile)?.tests.filter(({ title }) => title.includes(caughtBy)) ?? [];
  /** The files that have a test with its words. */
  const noticing = (fault: Fault) => filesOf(fault).filter((testFile) => testsBefore(testFile, fault).length > 0);
  const longestBefore = (fault: Fault) =>
    Math.max(0, ...noticing(fault).flatMap((testFile) => testsBefore(testFile, fault).map(({ ms }) => ms)));

  /** Runs those tests of a file, with a fault or as the code is, that have the words of these faults. */
  function run(
    runner: Runner,
    testFile: string,
    meant: readonly Fault[],
    how: Pick<Attempt, 'change' | 'inNewProcess'>,
  ) {
    const tests = meant.reduce((sum, fault) => sum + testsBefore(testFile, fault).length, 0);
    const testMs = patience.testMs + 10 * Math.max(...meant.map(longestBefore));
    const limits = { testMs, hookMs: patience.hookMs };
    const words = meant.map(({ caughtBy }) => caughtBy);
    return runner.run({ testFile, words, ...limits, ...how }, longest(limits, tests));
  }

  /** Why it cannot be tried; empty when it can. */
  function hindrance(fault: Fault): string {
    const { file, find } = fault;
    if (!standsOnce(readFileSync(join(root, file), 'utf8'), fault)) return `${file} must contain exactly once: ${find}`;
    const files = noticing(fault);
    const failing = files.find((testFile) => testsBefore(testFile, fault).some(({ hasPassed }) => !hasPassed));
    if (failing !== undefined) return `the test fails without the fault, too: ${failing}`;
    if (files.length > 0) return '';
    const troubles = filesOf(fault).flatMap((testFile) => before.get(testFile)?.troubles ?? []);
    return ['no test has these words in its title', ...troubles].join('; ');
  }

  /** Why it is not caught in new processes; empty when it is. */
  async function judge(runner: Runner, fault: Fault): Promise<string> {
    const whys: string[] = [];
    for (const testFile of noticing(fault)) {
      const { tests, troubles } = await run(runner, testFile, [fault], { change: fault, inNewProcess: true });
      if (tests.some(isNoticed)) return '';
      whys.push(...troubles);
      if (tests.every(({ hasPassed }) => hasPassed)) continue;
      // The test waits for what never comes, unless the machine is slow: then it takes too long without the fault, too.
      const { tests: again } = await run(runner, testFile, [fault], { inNewProcess: true });
      if (again.length > 0 && again.every(({ hasPassed }) => hasPassed)) return '';
      whys.push(`the machine is too slow for ${testFile}`);
    }
    return whys.join('; ') || 'no test failed';
  }

  const tell = (fault: Fault, why: string) => onVerdict({ fault, isCaught: why === '', why });

  async function tryTogether(runner: Runner, { testFile, meant }: Group): Promise<void> {
    const alone: Fault[] = [];
    let caught: Fault[] = [];
    /** In the process of now. */
    let tried = 0;

    async function endProcess(): Promise<void> {
      const isSure = tried < 2 || caught.length === 0 || (await areWellWithout(runner, testFile, caught));
      if (isSure) for (const fault of caught) tell(fault, '');
      else alone.push(...caught);
      [caught, tried] = [[], 0];
    }

    for (const fault of meant) {
      const how = { change: fault, inNewProcess: tried === 0 };
      const seen = await run(runner, testFile, [fault], how).catch(() => undefined);
      tried += 1;
      (seen?.tests.some(isNoticed) ? caught : alone).push(fault);
      if (seen === undefined || seen.tests.length === 0) {
        alone.push(...caught); // the process has ended, or may have
        [caught, tried] = [[], 0];
      } else if (seen.tests.some(({ hasTimedOut }) => hasTimedOut)) await endProcess();
    }
    await endProcess();
    for (const fault of alone) tell(fault, await judge(runner, fault).catch(({ message }: Error) => message));
  }

  /** Whether their tests pass where they were tried. */
  async function areWellWithout(runner: Runner, testFile: string, meant: readonly Fault[]): Promise<boolean> {
    const { tests } = await run(runner, testFile, meant, { inNewProcess: false }).catch(failedToRun);
    return tests.length > 0 && tests.every(({ hasPassed }) => hasPassed);
  }

  const groups = new Map<string, Fault[]>();
  for (const fault of [...faults].sort((one, other) => longestBefore(other) - longestBefore(one))) {
    const why = hindrance(fault);
    const [testFile = ''] = noticing(fault);
    if (why === '') groups.set(testFile, [...(groups.get(testFile) ?? []), fault]);
    else tell(fault, why);
  }
  const together = [...groups].flatMap(([testFile, all]) => parts(all).map((meant): Group => ({ testFile, meant })));
  await shareOut(runners, together, tryTogether);
}

/** Faults that are tried with one file of tests. */
interface Group {
  readonly testFile: string;
  readonly meant: readonly Fault[];
}

const parts = (all: readonly Fault[]): Fault[][] =>
  Array.from({ length: Math.ceil(all.length / mostTogether) }, (_, part) =>
    all.slice(part * mostTogether, (part + 1) * mostTogether),
  );

const isNoticed = ({ hasPassed, hasTimedOut }: SeenTest): boolean => !hasPassed && !hasTimedOut;

const failedToRun = ({ message }: Error): Seen => ({ tests: [], troubles: [message] });

/** Of so many tests, with a new process, what comes before and what comes after. */
const longest = ({ testMs, hookMs }: Trial['patience'], tests = 1): number => tests * testMs + 3 * hookMs;

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
