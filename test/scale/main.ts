import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checkpointEveryMessages, timing } from '../../src/settings/constants.ts';
import { jsonLines } from '../bench/figures.ts';
import { showProgress } from '../chaos/progress.ts';
import { optionsOrEnd } from '../support/processes.ts';
import { type Outcome, runScenario } from './run.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { messagesPerSecond } from './world.ts';

/** What is asked for on the command line. */
export interface Options {
  readonly names: readonly string[];
  readonly seed: number;
  readonly instances: number;
  readonly partitions: number;
  /** A file for the outcomes. */
  readonly json: string | undefined;
}

const most = 32;

export const usage = `Usage: npm run bench -- scale [names of scenarios] [--seed N]
                              [--instances N] [--partitions N] [--json FILE]

What happens to partitions, checkpoints and replies when instances of the
service come and go: its own code, in a world in memory whose time passes as
fast as the work is done. Ten minutes with 32 instances take about a minute.

  --seed N        of all that happens at random, 1 unless said otherwise; the
                  same seed has the same outcome
  --instances N   when all run, 2 to ${most}; ${most} unless said otherwise
  --partitions N  of the hub, 1 to ${most}; ${most} unless said otherwise
  --json FILE     keeps the outcomes; \`npm run docs\` makes the table of
                  docs/sizing.md from docs/measurements/scale.json
  -h, --help      says this

Scenarios:

${Object.entries(scenarios)
  .map(([name, { about }]) => `  ${name}\n${wrapped(about, 72)}`)
  .join('\n')}
`;

/**
 * @returns undefined when help is asked for
 * @throws Error that says what is wrong
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seed: { type: 'string', default: '1' },
      instances: { type: 'string', default: String(most) },
      partitions: { type: 'string', default: String(most) },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  for (const name of positionals) if (!(name in scenarios)) throw new Error(`there is no scenario “${name}”`);
  return {
    names: positionals.length > 0 ? positionals : Object.keys(scenarios),
    seed: wholeNumber('--seed', values.seed, 0, 2 ** 31),
    instances: wholeNumber('--instances', values.instances, 2, most),
    partitions: wholeNumber('--partitions', values.partitions, 1, most),
    json: values.json,
  };
}

/** In lines of that length, indented. */
function wrapped(text: string, length: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= length) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `      ${line}`).join('\n');
}

function wholeNumber(name: string, text: string, least: number, greatest: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > greatest) {
    throw new Error(`${name} must be a whole number from ${least} to ${greatest}`);
  }
  return value;
}

const columns: readonly (readonly [head: string, of: (outcome: Outcome) => string])[] = [
  ['scenario', ({ name }) => name],
  ['unread, median', ({ unread }) => seconds(unread.median)],
  ['worst', ({ unread }) => seconds(unread.worst)],
  ['most behind', ({ mostBehind }) => seconds(mostBehind)],
  ['caught up after', ({ caughtUp }) => seconds(caughtUp)],
  ['handled again', ({ work }) => (work.repeats === 0 ? '0' : `${work.repeats} of ${work.sent}`)],
  ['storage requests a second', ({ storage }) => `${storage.mean.toFixed(0)}, at most ${storage.most}`],
  ['questions to the hub a second', ({ mostQuestions }) => `at most ${mostQuestions}`],
  ['settled after', ({ seconds: whole }) => seconds(whole)],
];

const seconds = (value: number) => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} s`;

/** What a scenario has shown, in a line of its own. */
export const lineOf = (outcome: Outcome): string =>
  columns.map(([head, of], index) => (index === 0 ? `${of(outcome)}:` : `${head} ${of(outcome)},`)).join(' ');

/** A Markdown table with a line for each scenario. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const lines = [columns.map(([head]) => head), ...outcomes.map((outcome) => columns.map(([, of]) => of(outcome)))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = lines;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join('\n');
}

/** What must hold whatever happens to instances, and does not: empty when all is well (G1, G2, G3, G4). */
export function faultsOf(
  { isBalanced, uncleanEnds, unread, work }: Pick<Outcome, 'isBalanced' | 'uncleanEnds' | 'unread' | 'work'>,
  scenario: Pick<Scenario, 'uncleanEnds' | 'unwrittenSeconds' | 'parks'>,
): string[] {
  const { parks = 0, unwrittenSeconds = 0 } = scenario;
  const mostEnds = scenario.uncleanEnds ?? 0;
  const mostRepeats = uncleanEnds * repeatsOfOneEnd + unwrittenSeconds * messagesPerSecond;
  const isHandedOver = mostEnds === 0 && unwrittenSeconds === 0;
  const faults = [
    !isBalanced && 'the partitions are not shared evenly in the end',
    work.lost > 0 && `${work.lost} messages are lost`,
    work.inversions > 0 && `${work.inversions} messages were handled behind a later one of their device`,
    work.parked !== parks && `${work.parked} messages are parked, and not ${parks}`,
    uncleanEnds > mostEnds && `${uncleanEnds} processes ended by themselves, and not ${mostEnds} at the most`,
    isHandedOver && unread.worst > timing.expirySeconds && `a partition had no reader for ${unread.worst} s`,
    work.mostRepeats > mostRepeats &&
      `${work.mostRepeats} messages of a partition were handled again, over ${mostRepeats}`,
  ];
  return faults.filter((fault) => fault !== false);
}

/** In a partition: those since the last checkpoint, and those in flight, at this load. */
const repeatsOfOneEnd = Math.min(checkpointEveryMessages, 2 * messagesPerSecond * timing.checkpointSeconds);

/**
 * `npm run bench -- scale` plays what can happen to up to 32 instances on 32 partitions, and ends with 1 when something does not hold that
 * must: then a line says what (D411).
 */

const { names, json, ...options } = optionsOrEnd(readOptions, usage);
const now = performance.now.bind(performance);
const progress = showProgress(process.stdout, now);
const print = (line: string) => {
  progress.clear();
  process.stdout.write(`${line}\n`);
};

print(`seed ${options.seed}, ${options.instances} instances, ${options.partitions} partitions`);
const outcomes: Outcome[] = [];
for (const [index, name] of names.entries()) {
  const scenario = scenarios[name];
  if (scenario === undefined) continue;
  const onProgress = (seconds: number) =>
    progress.say(`${index + 1} of ${names.length}: ${name}, ${seconds.toFixed(0)} s`);
  const outcome = await runScenario(name, scenario, { ...options, onProgress });
  outcomes.push(outcome);
  print(lineOf(outcome));
  if (json !== undefined) writeFileSync(json, `${jsonLines({ ...options, outcomes })}\n`);
  for (const fault of faultsOf(outcome, scenario)) {
    process.exitCode = 1;
    print(`${name}: ${fault}`);
  }
}
print(`\n${tableOf(outcomes)}`);
