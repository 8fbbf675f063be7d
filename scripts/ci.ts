import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';
import { spawn } from '../sandbox/service/endWithUs.ts';
import { sabotages } from '../test/chaos/sabotages.ts';
import { faults } from '../test/mutants/faults.ts';
import { reachedFrom } from '../test/support/imports.ts';
import { testFilesReaching } from './mutants/reaching.ts';
import { drawn } from './mutants/sample.ts';

/** What is different since a commit, committed or not. */
interface Change {
  /** Full hash. */
  readonly commit: string;
  readonly files: ReadonlySet<string>;
  /** Whether one of the files is in one of these folders, or is one of these files. */
  touches(...places: readonly string[]): boolean;
  /**
   * Whether a fault in the file can be noticed then and not be noticed now: the file is another, or one of the tests that are nearest to it, or
   * something that only tests load.
   */
  concerns(file: string): boolean;
}

/** Of the tests that load a file, those that are asked first: these notice nearly everything. */
const nearest = 10;
const ofTests = /^(test|sandbox|iot-hub-emulator\/(test|src))\//;
const ofTrials = ['scripts/mutants/', 'scripts/mutants.ts', 'vitest.config.ts', 'package-lock.json'];

/** @throws Error when the commit is not known here */
export function changedSince(commit: string): Change {
  const lines = (args: readonly string[]) =>
    execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  return changeOf(commit, [
    ...lines(['diff', '--name-only', commit]),
    ...lines(['ls-files', '--others', '--exclude-standard']),
  ]);
}

export function changeOf(commit: string, names: readonly string[]): Change {
  const files = new Set(names);
  const touched = new Map<string, boolean>();
  const isTouched = (testFile: string): boolean => {
    const known =
      touched.get(testFile) ?? [...reachedFrom(testFile)].some((file) => ofTests.test(file) && files.has(file));
    touched.set(testFile, known);
    return known;
  };
  const touches = (...places: readonly string[]) =>
    names.some((name) => places.some((place) => name.startsWith(place)));
  return {
    commit,
    files,
    touches,
    concerns: (file) => touches(...ofTrials, file) || testFilesReaching(file).slice(0, nearest).some(isTouched),
  };
}

const report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
});

const linesEach = 4;
const atMost = 40;

/**
 * What the JSON reports of test runs say about failures: each failed test, or file, with the first lines of why, and the
 * counts of all of them last.
 */
export function summarize(jsons: readonly string[], root: string): string[] {
  const reports = jsons.map((json) => report.parse(JSON.parse(json)));
  const count = (which: 'numPassedTests' | 'numFailedTests') => reports.reduce((sum, one) => sum + one[which], 0);
  const results = reports.flatMap(({ testResults }) => testResults);
  const failures = results.flatMap(({ name, status, message, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === 'failed');
    if (tests.length === 0 && status !== 'failed') return [];
    const file = relative(root, name);
    if (tests.length === 0) return [[`failed: ${file}`, ...firstLines(message)]];
    return tests.map((test) => [`failed: ${file}: ${test.fullName}`, ...firstLines(test.failureMessages?.[0])]);
  });
  const left = failures.length - atMost;
  return [
    ...failures.slice(0, atMost).flat(),
    ...(left > 0 ? [`and ${left} more`] : []),
    `${count('numPassedTests')} passed, ${count('numFailedTests')} failed`,
  ];
}

function firstLines(message = ''): string[] {
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(0, linesEach).map((line) => `  ${line.slice(0, 300)}`);
}

export interface StepOptions {
  readonly limitMs: number;
  /** Default: ours. */
  readonly cwd?: string;
  /** Between the request to end and the end by force; default 15 s. */
  readonly graceMs?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** Given what it writes, one for each stream; default: it goes where ours goes. */
  readonly listener?: () => (chunk: Uint8Array) => void;
}

const heardWithinMs = 5_000;

/**
 * Runs a command with all that it starts in a process group of its own. The whole group ends with it, or when it takes too
 * long, or when this process ends.
 * @returns what is wrong; `undefined` when it has ended with 0
 */
export function runStep(command: readonly string[], options: StepOptions): Promise<string | undefined> {
  const { limitMs, cwd, graceMs = 15_000, signal, listener } = options;
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const output = listener ? 'pipe' : 'inherit';
    const child = spawn(program, args, { stdio: ['ignore', output, output], detached: true, cwd });
    for (const stream of [child.stdout, child.stderr]) if (listener) stream?.on('data', listener());
    const heard = listener ? once(child, 'close') : undefined;
    let why: string | undefined;
    let force: NodeJS.Timeout | undefined;
    const end = (reason: string) => {
      why ??= reason;
      signalGroup(child, 'SIGTERM');
      force ??= setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
    };
    const limit = setTimeout(() => end(`did not end within ${limitMs / 1000} s`), limitMs);
    const onAbort = () => end('interrupted');
    signal?.addEventListener('abort', onAbort);
    const settle = (result: string | undefined) => {
      clearTimeout(limit);
      clearTimeout(force);
      signal?.removeEventListener('abort', onAbort);
      signalGroup(child, 'SIGKILL'); // what it has left behind
      // Something outside the group may keep the streams open.
      void Promise.race([heard, sleep(heardWithinMs, undefined, { ref: false })]).finally(() => resolve(why ?? result));
    };
    child.once('error', ({ message }) => settle(message));
    child.once('exit', (code, by) => settle(code === 0 ? undefined : (by ?? `exit code ${code}`)));
  });
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * The steps of `.ci/run`, or with `--all` those of `.ci/all`, one after the other, each with a limit several times as long as it takes. A step that
 * fails does not hide what the later ones find: the output ends with the names of the steps that failed, each with its last lines, and of
 * the tests that failed, then the counts of the tests.
 *
 * `.ci/all` writes the commit, the day and the counts to `.ci/proven` when all is well. It takes hours: with `--resume FILE` it can be ended and
 * begun again, and does not repeat what the file says has passed at the same commit. `.ci/run` does what the change since that commit can reach,
 * and, when the file is not there or names a commit that is no ancestor, everything; only of deliberate faults and of services that are broken on
 * purpose, which take longer than all else, as many as the hash of the commit draws.
 */

const provenFile = '.ci/proven';
const isAll = process.argv.includes('--all');
const change = isAll ? undefined : changeSinceProof();
const resumed = isAll && process.argv.includes('--resume') ? process.argv.at(-1) : undefined;
const passed = new Set((resumed === undefined ? undefined : read(resumed))?.split('\n'));
const inResumed = (command: string) => `${head()} ${command}`;
const directory = resumed === undefined ? mkdtempSync(join(tmpdir(), 'ci-')) : `${resumed}.reports`;
mkdirSync(directory, { recursive: true });
/** Runs of tests that leave a report, which says more of them than the lines that they print. */
const reportedRuns = ['npm test', 'npm run program-tests'];
const reportOf = (run: string) => join(directory, `${run.replaceAll(' ', '-')}.json`);
const reported = (run: string) => `${run} -- --reporter=default --reporter=json --outputFile.json=${reportOf(run)}`;

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt.abort());

const failed: string[] = [];
const took: string[] = [];
for (const [minutes, command] of stepsFor(change)) {
  if (interrupt.signal.aborted) break;
  if (passed.has(inResumed(command))) continue;
  console.log(`\n== ${command}`);
  const began = performance.now();
  let said = '';
  const listener = () => (chunk: Uint8Array) => {
    process.stdout.write(chunk);
    said = `${said}${Buffer.from(chunk)}`.slice(-5_000);
  };
  const why = await runStep(command.split(' '), { limitMs: minutes * 60_000, signal: interrupt.signal, listener });
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`-- ${seconds} s`);
  took.push(`${seconds.padStart(5)} s  ${command.split(' -- --reporter')[0]}`);
  if (why === undefined) {
    if (resumed !== undefined) appendFileSync(resumed, `${inResumed(command)}\n`);
    continue;
  }
  failed.push(`failed: ${command} (${why})`);
  if (!reportedRuns.some((run) => command === reported(run))) failed.push(...lastLines(said));
}

const isGood = failed.length === 0 && !interrupt.signal.aborted;
console.log(`\n${took.join('\n')}`);
if (failed.length > 0) console.log(`\n${failed.join('\n')}`);
const counts = tests();
if (isAll && isGood) writeProof(counts.at(-1) ?? '');
console.log(`\n${counts.join('\n')}`);
if (resumed === undefined || isGood) rmSync(directory, { recursive: true, force: true });
process.exitCode = isGood ? 0 : 1;

function lastLines(said: string): string[] {
  const lines = stripVTControlCharacters(said).split(/\r?\n/);
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('npm ')).slice(-30);
}

/** @param change undefined: everything */
function stepsFor(change: Change | undefined): (readonly [minutes: number, command: string])[] {
  const touches = (...places: string[]) => change === undefined || change.touches(...places);
  const isService = touches('src/', 'telemetry/', 'iot-hub-emulator/src/', 'package-lock.json');
  const areFaultsConcerned = change === undefined || faults.some(({ file }) => change.concerns(file));
  const isSabotageConcerned = ({ file }: { readonly file: string }) => touches('test/chaos/', file);
  /** What need not be found out again. */
  const passedOver = join(directory, 'sabotages');
  const meant = sabotages.filter(isSabotageConcerned);
  const tried = new Set(isAll || change ? meant : drawn(meant, 10, head(), ({ fault }) => fault));
  writeFileSync(passedOver, sabotages.flatMap((one) => (tried.has(one) ? [] : [`${one.fault}\n`])).join(''));
  const which = isAll ? '' : change ? ` -- --since ${change.commit}` : ' -- --some 80';
  const when = (isMeant: boolean, minutes: number, command: string) => (isMeant ? [[minutes, command] as const] : []);
  return [
    [5, 'npm run lint'],
    [5, 'npm run types'],
    [5, 'npm run unused'],
    ...reportedRuns.map((run) => [30, reported(run)] as const),
    [15, 'npm run prove -- image'],
    ...when(touches('page/', 'test/browser/', 'sandbox/'), 15, 'npm run browser-tests'),
    ...when(change === undefined, 10, 'npm run prove -- smoke'),
    ...when(touches('src/hub/', 'src/engine/', 'test/mixed/', '.ci/releases'), 30, 'npm run prove -- versions'),
    ...when(touches('sandbox/', 'iot-hub-emulator/src/'), 5, 'npm run sandbox -- --exit'),
    ...when(areFaultsConcerned, 60, `npm run mutants${which}`),
    [20, `npm run mutants -- --sample 40`],
    ...when(change === undefined, 10, 'npm run bench -- --quick --rounds 1 http'),
    ...when(isService || touches('test/chaos/'), 15, `npm run chaos -- --seeds ${change ? 2 : 4} --at-once 2`),
    ...when(isAll, 20, 'npm run chaos -- --scenario all'),
    ...when(tried.size > 0, 30, `npm run chaos -- --sabotage --at-once 4 --resume ${passedOver}`),
  ];
}

/** What is different since everything was proven; undefined when nobody knows. */
function changeSinceProof(): Change | undefined {
  try {
    const commit = /^commit ([0-9a-f]{40})$/m.exec(readFileSync(provenFile, 'utf8'))?.[1] ?? '';
    execFileSync('git', ['merge-base', '--is-ancestor', commit, 'HEAD'], { stdio: 'ignore' });
    console.log(`What the change since ${commit} can reach (${provenFile})`);
    return changedSince(commit);
  } catch {
    console.log(`Everything: ${provenFile} names no commit that this one comes from`);
    return undefined;
  }
}

function head(): string {
  return execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
}

function writeProof(counts: string): void {
  const commit = head();
  const isClean = execFileSync('git', ['status', '--porcelain'], { encoding: 'utf8' }).trim() === '';
  if (isClean)
    writeFileSync(provenFile, `commit ${commit}\ndate ${new Date().toISOString().slice(0, 10)}\n${counts}\n`);
  else console.log(`\n${provenFile} is not written: what was proven is not what is committed`);
}

function tests(): string[] {
  const reports = reportedRuns.map((run) => [run, read(reportOf(run))] as const);
  const absent = reports.flatMap(([run, text]) => (text === undefined ? [`${run} has left no report`] : []));
  return [
    ...absent,
    ...summarize(
      reports.flatMap(([, text]) => text ?? []),
      process.cwd(),
    ),
  ];
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
