import { readFileSync, writeFileSync } from 'node:fs';
import { costTable, sizingTable } from '../test/bench/absoluteTables.ts';
import { chartsOf } from '../test/bench/charts.ts';
import { type Measured, type Rows, tableOf } from '../test/bench/printer.ts';
import { withTexts } from './writtenPart.ts';

/**
 * The tables and charts of `docs/performance.md`, of what the bench measured and wrote to `docs/measurements`. `npm run docs`
 * rewrites them; a test fails when they are behind.
 */
export const performancePage = 'docs/performance.md';

const run = <Of>(name: string): readonly Of[] =>
  JSON.parse(readFileSync(`docs/measurements/${name}.json`, 'utf8')).measured;

const before: readonly Rows[] = run('before');
const now: readonly Measured[] = run('now');
const polling: readonly Rows[] = run('polling');

/** What the client's pause of 20 ms between its reads could change. */
const ofPause = new Set([
  'CPU, service / no-op consumer',
  'CPU, service / floor',
  'p50',
  'p99',
  'updates, 1 partition',
  'skips, 1 partition',
  'skips, 4 partitions',
  'time until ready',
]);
const only = (measured: readonly Rows[], measures: ReadonlySet<string>): readonly Rows[] =>
  measured
    .map(({ workload, rows }) => ({ workload, rows: rows.filter(({ measure }) => measures.has(measure)) }))
    .filter(({ rows }) => rows.length > 0);

/** By file name. */
export const charts = chartsOf([
  { name: 'before', measured: before },
  { name: 'now', measured: now },
]);

/** The page with its tables as they should be. */
export const withTables = (page: string): string =>
  withTexts(page, {
    cost: costTable(now, before),
    ratios: tableOf(now, before),
    'without the pause': tableOf(only(now, ofPause), polling),
    'one instance': sizingTable(now),
  });

export function writePerformancePage(): void {
  writeFileSync(performancePage, withTables(readFileSync(performancePage, 'utf8')));
  for (const [file, svg] of Object.entries(charts)) writeFileSync(`docs/measurements/${file}`, svg);
}
