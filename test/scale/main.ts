import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { jsonLines } from '../bench/figures.ts';
import { showProgress } from '../chaos/progress.ts';
import { optionsOrEnd } from '../support/processes.ts';
import { faultsOf, lineOf, tableOf } from './outcome.ts';
import { type Outcome, runScenario } from './run.ts';
import { scenarios } from './scenarios.ts';

/**
 * `npm run bench -- scale` plays what can happen to up to 32 instances on 32 partitions, and ends with 1 when something does not hold that
 * must: then a line says what (D411).
 */

const usage = `Usage: npm run bench -- scale [names of scenarios] [--json FILE]

What happens to partitions, checkpoints and replies when instances of the
service come and go: its own code, in a world in memory whose time passes as
fast as the work is done. Ten minutes with 32 instances take about a minute.

  --json FILE  keeps the outcomes; \`npm run docs\` makes the table of
               docs/sizing.md from docs/measurements/scale.json
  -h, --help   says this

Scenarios:

${Object.entries(scenarios)
  .map(([name, { about }]) => `  ${name}\n${about.replace(/(.{1,72})( |$)/g, '      $1\n')}`)
  .join('')}`;

const { names, json } = optionsOrEnd(readOptions, usage);
const options = { seed: 1, instances: 32, partitions: 32 };
const now = performance.now.bind(performance);
const progress = showProgress(process.stdout, now);
const print = (line: string) => {
  progress.clear();
  process.stdout.write(`${line}\n`);
};

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

/**
 * @returns undefined when help is asked for
 * @throws Error that says what is wrong
 */
function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
  });
  if (values.help) return undefined;
  for (const name of positionals) if (!(name in scenarios)) throw new Error(`there is no scenario “${name}”`);
  return { names: positionals.length > 0 ? positionals : Object.keys(scenarios), json: values.json };
}
