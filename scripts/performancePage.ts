import { readFileSync } from 'node:fs';
import { costTable, sizingTable } from '../test/bench/absoluteTables.ts';
import type { Measured } from '../test/bench/figures.ts';
import { memoryTables } from './memoryTable.ts';
import { withTexts } from './writtenPart.ts';

/** The tables of `docs/maintainers/performance.md`: of what the bench measured and wrote to `docs/measurements`, and of memory. */
const run = <Of>(name: string): readonly Of[] =>
  JSON.parse(readFileSync(`docs/measurements/${name}.json`, 'utf8')).measured;

const now: readonly Measured[] = run('now');

export const withTables = (page: string): string =>
  withTexts(page, {
    ...{ cost: costTable(now), 'one instance': sizingTable(now) },
    memory: memoryTables,
  });
