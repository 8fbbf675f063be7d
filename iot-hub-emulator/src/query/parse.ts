import { type Cursor, createCursor } from './cursor.ts';
import { type Expression, readCondition } from './expressions.ts';
import { type Path, readName, readPath } from './paths.ts';
import { refused, type Token, unexpected } from './tokenizer.ts';

export const aggregates = ['COUNT', 'AVG', 'SUM', 'MIN', 'MAX'] as const;
export type Aggregate = (typeof aggregates)[number];

/** One member of the rows of a result. */
export interface Column {
  name: string;
  /** What is made of many twins; absent: the value at the path. */
  aggregate: Aggregate | undefined;
  /** Absent for COUNT alone. */
  path: Path | undefined;
}

/** A query about twins. */
export interface TwinQuery {
  /** Undefined for `*`, the whole twin. */
  select: readonly Column[] | undefined;
  /** Most rows. */
  top: number | undefined;
  from: 'devices' | 'devices.modules';
  where: Expression | undefined;
  groupBy: readonly Path[];
}

// SELECT [TOP n] ("*" / column *("," column)) FROM devices[.modules]
//   [WHERE condition] [GROUP BY path *("," path)] [";"]
// column = path ["AS" name] / "COUNT" "(" ")" "AS" name / ("AVG" / "SUM" / "MIN" / "MAX") "(" path ")" "AS" name

/**
 * Read a query, its words in any case. Refuses one that is not of this form by the first part that does not belong where
 * it stands, and its position.
 */
export function parseQuery(query: string): TwinQuery {
  const cursor = createCursor(query);
  cursor.need('SELECT');
  const top = cursor.take('TOP') && Number(readWhole(cursor).value);
  const isWhole = cursor.take('*') !== undefined;
  const columns = isWhole ? [] : readListOf(cursor, readColumn);
  cursor.need('FROM');
  const from = readFrom(cursor);
  const where = cursor.take('WHERE') && readCondition(cursor);
  const groupBy = takeGroupBy(cursor) ? readListOf(cursor, readPath) : [];
  const isGrouped = groupBy.length > 0 || columns.some(({ aggregate }) => aggregate !== undefined);
  cursor.take(';');
  cursor.needKind('end', 'the end');
  checkColumns(columns, isGrouped, groupBy, isWhole);
  return { select: isWhole ? undefined : columns, top, from, where, groupBy };
}

function readFrom(cursor: Cursor): TwinQuery['from'] {
  cursor.need('DEVICES');
  if (!cursor.take('.')) return 'devices';
  if (cursor.sees('JOBS'))
    throw refused(`The query is about jobs at character ${cursor.next().position}, which this hub does not imitate.`);
  cursor.need('MODULES');
  return 'devices.modules';
}

function readListOf<T>(cursor: Cursor, read: (cursor: Cursor) => T): readonly T[] {
  const list = [read(cursor)];
  while (cursor.take(',')) list.push(read(cursor));
  return list;
}

function takeGroupBy(cursor: Cursor): boolean {
  if (!cursor.take('GROUP')) return false;
  cursor.need('BY');
  return true;
}

function readWhole(cursor: Cursor): Token {
  const token = cursor.needKind('number', 'a whole number');
  if (!/^\d{1,9}$/.test(token.value)) throw unexpected(token, 'a whole number');
  return token;
}

function readColumn(cursor: Cursor): Column {
  const path = readPath(cursor);
  const aggregate = cursor.sees('(') ? aggregateOf(path) : undefined;
  if (aggregate === undefined) {
    const name = cursor.take('AS') ? readName(cursor) : (path.names.at(-1) ?? '');
    return { name, aggregate, path };
  }
  cursor.need('(');
  const of = aggregate === 'COUNT' ? undefined : readPath(cursor);
  cursor.need(')');
  cursor.need('AS');
  return { name: readName(cursor), aggregate, path: of };
}

function aggregateOf({ names, position }: Path): Aggregate {
  const name = names.join('.');
  const found = aggregates.find((one) => one === name.toUpperCase());
  if (found) return found;
  throw refused(
    `The query selects the function ${JSON.stringify(name.slice(0, 40))} at character ${position}; it may be ${aggregates.join(', ')}.`,
  );
}

const placeOf = ({ names }: Path): string => JSON.stringify(names);

/** Refuses two columns of one name, and a column of a group that has not the same value in all of it. */
function checkColumns(
  columns: readonly Column[],
  isGrouped: boolean,
  groupBy: readonly Path[],
  isWhole: boolean,
): void {
  if (isGrouped && isWhole) throw refused('A query with GROUP BY selects columns, not *.');
  const grouped = new Set(groupBy.map(placeOf));
  const names = new Set<string>();
  for (const { name, aggregate, path } of columns) {
    if (names.has(name)) throw refused(`The query has two columns ${JSON.stringify(name.slice(0, 40))}.`);
    names.add(name);
    if (isGrouped && aggregate === undefined && path && !grouped.has(placeOf(path)))
      throw refused(`The query selects at character ${path.position} what it does not group by.`);
  }
}
