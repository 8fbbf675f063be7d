import { createRandom } from '../chaos/random.ts';
import { type Options, readOptions, usage } from './options.ts';
import { search } from './search.ts';

/** `npm run cost-search -- --minutes 5` looks for messages that cost too much, and ends with 1 when it has found one (R6). */

const options = optionsOrEnd();
const print = (line: string) => void process.stdout.write(`${line}\n`);
print(`seed ${options.seed}`);
const found = await search({ random: createRandom(options.seed), minutes: options.minutes, print });
process.exitCode = found ? 1 : 0;

function optionsOrEnd(): Options {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options) return options;
    process.stdout.write(usage);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}
