import { readFileSync, writeFileSync } from 'node:fs';
import { costTable, sizingTable } from '../test/bench/absoluteTables.ts';
import { chartsOf } from '../test/bench/charts.ts';
import { type Measured, type Rows, tableOf } from '../test/bench/printer.ts';

/**
 * The tables and charts of `docs/performance.md`, of what the bench measured and wrote to `docs/measurements`. `npm run docs`
 * rewrites them; a test fails when they are behind.
 */
export const performancePage = 'docs/performance.md';

const run = <Of>(name: string): readonly Of[] =>
  JSON.parse(readFileSync(`docs/measurements/${name}.json`, 'utf8')).measured;

const before: readonly Rows[] = run('before');
const now: readonly Measured[] = run('now');

/** By file name. */
export const charts = chartsOf([
  { name: 'before', measured: before },
  { name: 'now', measured: now },
]);

const marks = (name: string) => [`<!-- ${name}: written by \`npm run docs\` -->`, `<!-- /${name} -->`] as const;

/** The page with its tables as they should be. */
export function withTables(page: string): string {
  const tables = {
    cost: costTable(now, before),
    ratios: tableOf(now, before),
    'one instance': sizingTable(now),
  };
  return Object.entries(tables).reduce((text, [name, table]) => {
    const [begin, end] = marks(name);
    const [first = '', rest = ''] = text.split(begin);
    return `${first}${begin}\n\n${table}\n\n${end}${rest.slice(rest.indexOf(end) + end.length)}`;
  }, page);
}

export function writePerformancePage(): void {
  writeFileSync(performancePage, withTables(readFileSync(performancePage, 'utf8')));
  for (const [file, svg] of Object.entries(charts)) writeFileSync(`docs/measurements/${file}`, svg);
}
