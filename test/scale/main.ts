import { writeFileSync } from 'node:fs';
import { jsonLines } from '../bench/figures.ts';
import { showProgress } from '../chaos/progress.ts';
import { optionsOrEnd } from '../support/processes.ts';
import { readOptions, usage } from './options.ts';
import { faultsOf, lineOf, tableOf } from './outcome.ts';
import { type Outcome, runScenario } from './run.ts';
import { scenarios } from './scenarios.ts';

/**
 * `npm run bench -- scale` plays what can happen to up to 32 instances on 32 partitions, and ends with 1 when something does not hold that
 * must: then a line says what (D411).
 */

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
