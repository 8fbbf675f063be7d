import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { sabotages } from '../test/chaos/sabotages.ts';
import { faults } from '../test/mutants/faults.ts';
import { type Change, changedSince } from './ci/changes.ts';
import { summarize } from './ci/report.ts';
import { runStep } from './ci/step.ts';
import { drawn } from './mutants/sample.ts';

/**
 * The steps of `.ci/run`, or with `--all` those of `.ci/all`, one after the other, each with a limit several times as long as it takes. A step that
 * fails does not hide what the later ones find: the output ends with the names of the steps that failed, each with its last lines, and of
 * the tests that failed, then the counts of the tests.
 *
 * `.ci/all` writes the commit, the day and the counts to `.ci/proven` when all is well. It takes hours: with `--resume FILE` it can be ended and
 * begun again, and does not repeat what the file says has passed at the same commit. `.ci/run` does what the change since that commit can reach,
 * and, when the file is not there or names a commit that is no ancestor, everything; only of deliberate faults, which take longer than all else, no
 * more than 400, and without the file of these and of services that are broken on purpose as many as the hash of the commit draws.
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
  const passedOver = join(directory, `sabotages-${head()}`);
  const noticed = join(directory, `faults-${head()}`);
  const meant = sabotages.filter(isSabotageConcerned);
  const tried = new Set(isAll || change ? meant : drawn(meant, 10, head(), ({ fault }) => fault));
  if (!existsSync(passedOver))
    writeFileSync(passedOver, sabotages.flatMap((one) => (tried.has(one) ? [] : [`${one.fault}\n`])).join(''));
  const which = isAll
    ? ` -- --resume ${noticed}`
    : change
      ? ` -- --since ${change.commit} --some 400`
      : ' -- --some 80';
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
    [20, 'npm run mutants -- --sample 40 --nearest 20'],
    ...when(change === undefined, 10, 'npm run bench -- --quick --rounds 1 http'),
    ...when(isService || touches('test/chaos/'), 15, `npm run chaos -- --seeds ${change ? 2 : 4} --at-once 2`),
    ...when(isAll, 20, 'npm run chaos -- --scenario all'),
    ...when(tried.size > 0, 30, `npm run chaos -- --sabotage --at-once 4 --resume ${passedOver}`),
    ...when(areFaultsConcerned, isAll ? 120 : 60, `npm run mutants${which}`),
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
