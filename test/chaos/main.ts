import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionsOrEnd, removeInUse } from '../support/processes.ts';
import { saySeed } from '../support/seed.ts';
import { openDoneList } from './doneList.ts';
import { readOptions, usage } from './options.ts';
import { showProgress } from './progress.ts';
import { allGoWell } from './scenarios/play.ts';
import { allAreCaught, allIsWell } from './trials.ts';

/**
 * `npm run chaos -- --seeds 20` runs the service through so many seeds of trouble, from `--seed` on, and says what was
 * lost, inverted, duplicated or wrongly acknowledged. `--sabotage` does the same to services that are broken on
 * purpose, each of which must be found out. `--scenario` plays courses of events that are written down (test/chaos/scenarios).
 */

const { seeds, sabotage, atOnce, resume, only, misfortunes, scenarios } = optionsOrEnd(readOptions, usage);
const directory = await mkdtemp(join(tmpdir(), 'chaos-'));
process.once('SIGINT', () => endWithoutTrace(130));
process.once('SIGTERM', () => endWithoutTrace(143));
const progress = showProgress(process.stdout, performance.now.bind(performance));
const print = (line: string) => {
  progress.clear();
  process.stdout.write(`${line}\n`);
};

print(saySeed(seeds[0] ?? 0));
try {
  const done = await openDoneList(resume);
  const trials = { seeds, atOnce, only, misfortunes, directory, print, onProgress: progress.say, done };
  const isGood = await (scenarios
    ? allGoWell(scenarios, { seed: seeds[0] ?? 0, directory, print })
    : sabotage
      ? allAreCaught(trials)
      : allIsWell(trials));
  if (!isGood && !sabotage) process.exit(1); // and the logs stay
  endWithoutTrace(isGood ? 0 : 1);
} catch (error) {
  print(String(error));
  endWithoutTrace(1);
}

/** The processes that were started end with this one; what they have written goes last. */
function endWithoutTrace(code: number): never {
  process.once('exit', () => removeInUse(directory));
  process.exit(code);
}
