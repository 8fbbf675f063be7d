import { parseArgs } from 'node:util';
import { scenarios } from './scenarios.ts';

export interface Options {
  readonly names: readonly string[];
  readonly seed: number;
  readonly instances: number;
  readonly partitions: number;
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
  if (!/^\d+$/.test(text) || value < least || value > greatest)
    throw new Error(`${name} must be a whole number from ${least} to ${greatest}`);
  return value;
}
