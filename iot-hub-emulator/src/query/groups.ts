import { type Json, type JsonObject, numeric } from '../values/json.ts';
import type { Aggregate, Column, TwinQuery } from './parse.ts';
import { type Twin, type Value, valueAt } from './paths.ts';

/** Numbers that come one by one. */
interface Tally {
  rows: number;
  numbers: number;
  sum: number;
  least: number;
  greatest: number;
}

interface Group {
  /** Of the columns without an aggregate. */
  values: readonly Value[];
  /** Of each column. */
  tallies: readonly Tally[];
}

/** Gathers twins into groups, and makes a row of each. What is no number counts for COUNT alone. */
export function createGroups({ select = [], groupBy }: TwinQuery): { add(twin: Twin): void; rows(): JsonObject[] } {
  const groups = new Map<string, Group>();
  const groupOf = (key: string, twin: Twin | undefined): Group => {
    const known = groups.get(key);
    if (known) return known;
    const values = select.map(({ aggregate, path }) =>
      aggregate === undefined && path && twin ? valueAt(path, twin) : undefined,
    );
    const group = { values, tallies: select.map(emptyTally) };
    groups.set(key, group);
    return group;
  };
  if (groupBy.length === 0) groupOf('', undefined); // of no twins, too, there are 0

  return {
    add(twin) {
      const key = groupBy.map((path) => JSON.stringify(valueAt(path, twin)) ?? '').join('\n');
      const { tallies } = groupOf(key, twin);
      for (const [i, { path }] of select.entries()) count(tallies[i] as Tally, path && valueAt(path, twin));
    },
    rows: () => [...groups.values()].map((group) => rowOf(select, group)),
  };
}

const emptyTally = (): Tally => ({
  ...{ rows: 0, numbers: 0, sum: 0 },
  ...{ least: Number.POSITIVE_INFINITY, greatest: Number.NEGATIVE_INFINITY },
});

function count(tally: Tally, found: Value): void {
  const value = numeric(found);
  tally.rows += 1;
  if (typeof value !== 'number') return;
  tally.numbers += 1;
  tally.sum += value;
  tally.least = Math.min(tally.least, value);
  tally.greatest = Math.max(tally.greatest, value);
}

const results: Readonly<Record<Aggregate, (tally: Tally) => number>> = {
  COUNT: ({ rows }) => rows,
  SUM: ({ sum }) => sum,
  AVG: ({ sum, numbers }) => sum / numbers,
  MIN: ({ least }) => least,
  MAX: ({ greatest }) => greatest,
};

function rowOf(select: readonly Column[], { values, tallies }: Group): JsonObject {
  const row: JsonObject = Object.create(null);
  for (const [i, { name, aggregate }] of select.entries()) {
    const tally = tallies[i] as Tally;
    const hasResult = aggregate === 'COUNT' || tally.numbers > 0;
    const value: Json | undefined =
      aggregate === undefined ? values[i] : hasResult ? results[aggregate](tally) : undefined;
    if (value !== undefined) row[name] = value;
  }
  return row;
}
