import { parseArgs } from 'node:util';
import { scenarios } from './scenarios.ts';

export const usage = `Usage: npm run bench -- scale [names of scenarios] [--json FILE]

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

/**
 * @returns undefined when help is asked for
 * @throws Error that says what is wrong
 */
export function readOptions(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
  });
  if (values.help) return undefined;
  for (const name of positionals) if (!(name in scenarios)) throw new Error(`there is no scenario “${name}”`);
  return { names: positionals.length > 0 ? positionals : Object.keys(scenarios), json: values.json };
}
