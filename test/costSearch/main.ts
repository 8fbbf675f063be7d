import { createRandom } from '../chaos/random.ts';
import { optionsOrEnd } from '../support/processes.ts';
import { readOptions, usage } from './options.ts';
import { search } from './search.ts';

/** `npm run cost-search -- --minutes 5` looks for messages that cost too much, and ends with 1 when it has found one (R6). */

const options = optionsOrEnd(readOptions, usage);
const print = (line: string) => void process.stdout.write(`${line}\n`);
print(`seed ${options.seed}`);
const found = await search({ random: createRandom(options.seed), minutes: options.minutes, print });
process.exitCode = found ? 1 : 0;
