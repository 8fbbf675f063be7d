import { optionsOrEnd } from '../support/processes.ts';
import { saySeed } from '../support/seed.ts';
import { search } from './search.ts';
import { readOptions, usage, writeSitting } from './sitting.ts';

/** `npm run cost-search -- --minutes 5` looks for messages that cost too much, and ends with 1 when it has found one (R6). */

const { minutes, sitting, resume } = optionsOrEnd(readOptions, usage);
const print = (line: string) => void process.stdout.write(`${line}\n`);
print(saySeed(sitting.seed));
const found = await search({
  ...{ sitting, minutes, print },
  keep(now) {
    if (resume !== undefined) writeSitting(resume, now);
  },
});
process.exitCode = found ? 1 : 0;
