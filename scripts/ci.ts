import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { sabotages } from '../test/chaos/sabotages.ts';
import { faults } from '../test/mutants/faults.ts';
import { reachedFrom } from '../test/support/imports.ts';
import type { Change } from './ci/changes.ts';
import { changeSinceProofOf, head, isProven, noteProofOf, provenFile } from './ci/proof.ts';
import { summarize } from './ci/report.ts';
import { runStep } from './ci/step.ts';
import { drawn } from './mutants/sample.ts';

/**
 * The steps of `.ci/run`, or with `--all` those of `.ci/all`, one after the other, each with a limit several times as long as it takes. A step that
 * fails does not hide what the later ones find: the output ends with the names of the steps that failed, each with its last lines, and of
 * the tests that failed, then the counts of the tests.
 *
 * `.ci/all` takes hours. It notes each step that passes in `.ci/proven`, with the commit, and passes over what that says of this commit: so it can be
 * ended, and begun again. With `--only TEXT` it does those steps that have this in their names. `.ci/run` does of the longer steps what the change
 * since their commits can reach; what nothing is known of it does, too, but of deliberate faults and of services that are broken on purpose only as many as the hash of the commit draws.
 */

const { all: isAll, only } = parseArgs({
  options: { all: { type: 'boolean', default: false }, only: { type: 'string', default: '' } },
}).values;
/** What is kept for another sitting. */
const kept = join('.ci/kept', head());
const directory = isAll ? kept : mkdtempSync(join(tmpdir(), 'ci-'));
mkdirSync(directory, { recursive: true });
/** Runs of tests that leave a report, which says more of them than the lines that they print. */
const reportedRuns = ['npm test', 'npm run program-tests'];
const reportOf = (run: string) => join(directory, `${run.replaceAll(' ', '-')}.json`);
const reported = (run: string) => `${run} -- --reporter=default --reporter=json --outputFile.json=${reportOf(run)}`;

const ofBrowserTests = [
  ...['page/', 'test/browser/', 'sandbox/', 'src/admin/', 'src/operations/'],
  ...['scripts/build/page.js', 'package-lock.json'],
];

/** All that the tests of backends load or read. */
const ofBackends = [
  ...['backend-kit/', 'sandbox/', 'test/backendKit/', 'test/support/', 'docs/contracts/', 'iot-hub-emulator/'],
  ...['telemetry/', 'scripts/', 'package.json', 'package-lock.json', 'vitest.config.ts'],
];

/** Images are made of these, and of folders of their own, and tried with the sandbox. */
const ofImages = [
  ...['telemetry/', 'sandbox/', 'scripts/build', 'scripts/run/', 'scripts/image/', 'scripts/prove', 'LICENSE'],
  ...['package.json', 'package-lock.json', '.npmrc', '.dockerignore', 'tsconfig.json'],
];

/** What no card decides: order, checkpoints, and what two builds tell each other. */
const belowCards = readdirSync('src').flatMap((room) => (room === 'messages' ? [] : `src/${room}/`));

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt.abort());

const failed: string[] = [];
const took: string[] = [];
const meantSteps = steps().filter(({ name }) => name.includes(only));
if (meantSteps.length === 0) failed.push(`failed: no step has "${only}" in its name`);
for (const { name, minutes, command } of meantSteps) {
  if (interrupt.signal.aborted) break;
  if (isAll && isProven(name)) continue;
  const asked = command(isAll ? undefined : changeSinceProofOf(name));
  if (asked === undefined) continue;
  console.log(`\n== ${asked}`);
  const began = performance.now();
  let said = '';
  const listener = () => (chunk: Uint8Array) => {
    process.stdout.write(chunk);
    said = `${said}${Buffer.from(chunk)}`.slice(-5_000);
  };
  const why = await runStep(asked.split(' '), { limitMs: minutes * 60_000, signal: interrupt.signal, listener });
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`-- ${seconds} s`);
  took.push(`${seconds.padStart(5)} s  ${asked.split(' -- --reporter')[0]}`);
  const isTests = reportedRuns.includes(name);
  if (why === undefined) {
    if (isAll) noteProofOf(name, isTests ? tests([name]).at(-1) : undefined);
    continue;
  }
  failed.push(`failed: ${asked} (${why})`);
  if (!isTests) failed.push(...lastLines(said));
}

const isGood = failed.length === 0 && !interrupt.signal.aborted;
console.log(`\n${took.join('\n')}`);
if (failed.length > 0) console.log(`\n${failed.join('\n')}`);
if (isAll) console.log(`\n${provenFile}\n${read(provenFile) ?? ''}`);
console.log(`\n${tests(reportedRuns.filter((run) => run.includes(only))).join('\n')}`);
if (!isAll || (isGood && only === '')) rmSync(directory, { recursive: true, force: true });
process.exitCode = isGood ? 0 : 1;

function lastLines(said: string): string[] {
  const lines = stripVTControlCharacters(said).split(/\r?\n/);
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('npm ')).slice(-30);
}

interface Step {
  /** As `.ci/proven` has it. */
  readonly name: string;
  readonly minutes: number;
  /** @param change since it passed; undefined: everything. @returns undefined: there is nothing to do */
  command(change: Change | undefined): string | undefined;
}

function steps(): Step[] {
  const step = (minutes: number, name: string, command: Step['command'] = () => name): Step => ({
    ...{ name, minutes, command },
  });
  /** When one of these places has changed. */
  const of = (minutes: number, name: string, places: readonly string[], command = () => name) =>
    step(minutes, name, (change) => (change === undefined || change.touches(...places) ? command() : undefined));
  const unproven = (minutes: number, name: string, command = name) =>
    step(minutes, name, (change) => (change === undefined ? command : undefined));
  const onlyInAll = (minutes: number, name: string) => (isAll ? [step(minutes, name)] : []);
  return [
    step(5, 'npm run lint'),
    step(5, 'npm run types'),
    step(5, 'npm run unused'),
    ...reportedRuns.map((run) => step(30, run, (change) => reported(run) + unreachedTests(run, change))),
    step(15, 'npm run prove -- image', (change) => `npm run prove -- image${reachedImages(change)}`),
    of(15, 'npm run browser-tests', ofBrowserTests),
    unproven(10, 'npm run prove -- smoke'),
    of(30, 'npm run prove -- versions', [
      ...belowCards,
      'telemetry/',
      'package-lock.json',
      'test/mixed/',
      '.ci/releases',
    ]),
    of(5, 'npm run sandbox -- --exit', ['sandbox/', 'iot-hub-emulator/src/']),
    step(20, 'npm run mutants -- --sample 40 --nearest 8'),
    unproven(10, 'npm run bench', 'npm run bench -- --quick --rounds 1 http'),
    of(
      15,
      'npm run chaos',
      ['src/', 'telemetry/', 'iot-hub-emulator/src/', 'package-lock.json', 'test/chaos/'],
      () => `npm run chaos -- --seeds ${isAll ? 4 : 2} --at-once 2`,
    ),
    ...onlyInAll(20, 'npm run chaos -- --scenario all'),
    step(30, 'npm run chaos -- --sabotage', trySabotages),
    step(isAll ? 120 : 40, 'npm run mutants', tryFaults),
  ];
}

/** Tests of backends that the change cannot reach. */
function unreachedTests(run: string, change: Change | undefined): string {
  if (run !== 'npm run program-tests' || change === undefined || change.touches(...ofBackends)) return '';
  return ['adapter', 'faults'].map((name) => ` --exclude=test/backendKit/${name}.test.ts`).join('');
}

/** The image of the service, and those others that the change can reach. */
function reachedImages(change: Change | undefined): string {
  if (change === undefined) return '';
  const others = { edge: 'edge/', hub: 'iot-hub-emulator/' };
  const reached = Object.entries(others).filter(([, folder]) => change.touches(folder, ...ofImages));
  return ['', 'service', ...reached.map(([name]) => name)].join(' ');
}

function trySabotages(change: Change | undefined): string | undefined {
  const trials = [...reachedFrom('test/chaos/trials.ts')].filter((file) => file.startsWith('test/chaos/'));
  const meant = sabotages.filter(
    ({ file }) => change === undefined || change.touches('test/chaos/sabotages.txt', ...trials, file),
  );
  const tried = new Set(isAll || change ? meant : drawn(meant, 10, head(), ({ fault }) => fault));
  if (tried.size === 0) return undefined;
  const passedOver = join(directory, 'sabotages');
  if (!existsSync(passedOver))
    writeFileSync(passedOver, sabotages.flatMap((one) => (tried.has(one) ? [] : [`${one.fault}\n`])).join(''));
  return `npm run chaos -- --sabotage --at-once 4 --resume ${passedOver}`;
}

function tryFaults(change: Change | undefined): string | undefined {
  if (isAll) return `npm run mutants -- --resume ${join(directory, 'faults')}`;
  if (change === undefined) return 'npm run mutants -- --some 80';
  const areConcerned = faults.some(({ file, fault }) => change.concerns(file, fault));
  return areConcerned ? `npm run mutants -- --since ${change.commit} --some 150` : undefined;
}

function tests(runs: readonly string[]): string[] {
  const reports = runs.map((run) => [run, read(reportOf(run))] as const);
  const absent = reports.flatMap(([run, text]) =>
    text === undefined && !(isAll && isProven(run)) ? [`${run} has left no report`] : [],
  );
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
