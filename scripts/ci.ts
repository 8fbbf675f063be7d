import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noTest } from '../test/mutants/titles.ts';
import { createLastWords } from './ci/lastWords.ts';
import { summarize } from './ci/report.ts';
import { runStep } from './ci/step.ts';

/**
 * The steps of `.ci/run`, one after the other, each with a limit several times as long as it takes. A step that fails does
 * not hide what the later ones find: the output ends with the names of the steps that failed, each with the lines that tell
 * why, and of the tests that failed, then the counts of the tests.
 */

const directory = mkdtempSync(join(tmpdir(), 'ci-'));
/** Runs of tests that leave a report, which says more of them than the lines that they print. */
const reportedRuns = ['npm test', 'npm run program-tests'];
const reportOf = (run: string) => join(directory, `${run.replaceAll(' ', '-')}.json`);
const reported = (run: string) => `${run} -- --reporter=default --reporter=json --outputFile.json=${reportOf(run)}`;

const steps: readonly (readonly [minutes: number, command: string])[] = [
  [5, 'npm run lint'],
  [5, 'npm run types'],
  [5, 'npm run unused'],
  [15, 'npm run prove -- image'],
  ...reportedRuns.map((run) => [30, reported(run)] as const),
  [15, 'npm run browser-tests'],
  [10, 'npm run prove -- smoke'],
  [30, 'npm run prove -- versions'],
  [5, 'npm run sandbox -- --exit'],
  [40, 'npm run mutants'],
  [10, 'npm run bench -- --quick --rounds 1 http'],
  [15, 'npm run chaos -- --seeds 5 --at-once 3'],
  [30, 'npm run chaos -- --sabotage --at-once 4'],
];

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt.abort());

const failed: string[] = [];
for (const [minutes, command] of steps) {
  if (interrupt.signal.aborted) break;
  console.log(`\n== ${command}`);
  const began = performance.now();
  const words = createLastWords();
  const listener = () => {
    const hear = words.listener();
    return (chunk: Uint8Array) => {
      process.stdout.write(chunk);
      hear(chunk);
    };
  };
  const why = await runStep(command.split(' '), { limitMs: minutes * 60_000, signal: interrupt.signal, listener });
  console.log(`-- ${((performance.now() - began) / 1000).toFixed(0)} s`);
  if (why === undefined) continue;
  const isReported = reportedRuns.some((run) => command === reported(run));
  const reasons = words.lines().filter((line) => !isReported || line.includes(noTest));
  failed.push(`failed: ${command} (${why})`, ...reasons.map((line) => `  ${line}`));
}

if (failed.length > 0) console.log(`\n${failed.join('\n')}`);
console.log(`\n${tests().join('\n')}`);
rmSync(directory, { recursive: true, force: true });
process.exitCode = failed.length === 0 && !interrupt.signal.aborted ? 0 : 1;

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
