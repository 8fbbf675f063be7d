import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noTest } from '../test/mutants/titles.ts';
import { createLastWords } from './ci/lastWords.ts';
import { summarize } from './ci/report.ts';
import { runStep } from './ci/step.ts';
import { createTurns } from './ci/turns.ts';

/**
 * The steps of `.ci/run`, each with a limit several times as long as it takes: the build, then two at a time, as most wait
 * for processes of their own (D431). A step that fails does not hide what the others find: the output ends with the names
 * of the steps that failed, each with the lines that tell why, and of the tests that failed, then the counts of the tests.
 */

const directory = mkdtempSync(join(tmpdir(), 'ci-'));
/** Runs of tests that leave a report, which says more of them than the lines that they print. */
const reportedRuns = ['npm test', 'npm run program-tests'];
const reportOf = (run: string) => join(directory, `${run.replaceAll(' ', '-')}.json`);
const reported = (run: string) => `${run} -- --reporter=default --reporter=json --outputFile.json=${reportOf(run)}`;

type Step = readonly [minutes: number, command: string];

/** In the order in which they begin: what a change fails most often, then what takes longest. */
const steps: readonly Step[] = [
  [10, 'npm run lint'],
  [10, 'npm run types'],
  [10, 'npm run unused'],
  [60, 'npm run mutants'],
  ...reportedRuns.map((run) => [40, reported(run)] as const),
  [45, 'npm run chaos -- --sabotage --at-once 4'],
  [30, 'npm run prove-image'],
  [30, 'npm run chaos -- --seeds 5 --at-once 3'],
  [30, 'npm run browser-tests'],
  [30, 'npm run mixed-versions'],
  [15, 'npm run smoke'],
  [10, 'npm run sandbox -- --exit'],
  [15, 'npm run bench -- --quick --rounds 1 http'],
];

const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupt.abort());

const failed: string[] = [];
const turns = createTurns((words) => process.stdout.write(words));

async function take([minutes, command]: Step): Promise<void> {
  const turn = turns.begin();
  turn.say(`\n== ${command}\n`);
  const began = performance.now();
  const words = createLastWords();
  const listener = () => {
    const hear = words.listener();
    return (chunk: Uint8Array) => {
      turn.say(chunk);
      hear(chunk);
    };
  };
  const why = await runStep(command.split(' '), { limitMs: minutes * 60_000, signal: interrupt.signal, listener });
  turn.say(`-- ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
  turn.end();
  if (why === undefined) return;
  const isReported = reportedRuns.some((run) => command === reported(run));
  const reasons = words.lines().filter((line) => !isReported || line.includes(noTest));
  failed.push(`failed: ${command} (${why})`, ...reasons.map((line) => `  ${line}`));
}

async function takeAll(left: Iterator<Step>): Promise<void> {
  for (let next = left.next(); !next.done && !interrupt.signal.aborted; next = left.next()) await take(next.value);
}

// What the others start is built, and not built again below them.
await take([5, 'npm run build']);
const left = steps.values();
await Promise.all([takeAll(left), takeAll(left)]);

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
