import type { JsonObject } from '../values/json.ts';
import { createGroups } from './groups.ts';
import { type Page, type PageRange, pageOf } from './page.ts';
import type { TwinQuery } from './parse.ts';
import { type Twin, valueAt } from './paths.ts';

/**
 * A page of the rows that a query selects of `all`, in their order. Without TOP and groups, it looks at no more of them
 * than the page needs, and the continuation is the number of the next one that fits; it keeps no twin but those of the page.
 */
export function selectPage<T>(
  query: TwinQuery,
  all: readonly T[],
  twinOf: (one: T) => JsonObject,
  range: PageRange,
): Page<JsonObject> {
  const { select, top, where, groupBy } = query;
  const open = (one: T): Twin => once(() => twinOf(one));
  const fits = (twin: Twin): boolean => where === undefined || where(twin) === true;

  if (groupBy.length > 0 || select?.some(({ aggregate }) => aggregate !== undefined)) {
    const groups = createGroups(query);
    for (const one of all) {
      const twin = open(one);
      if (fits(twin)) groups.add(twin);
    }
    return pageOf(groups.rows().slice(0, top), range);
  }
  if (top === undefined) return scan(all, open, fits, (twin) => rowOf(query, twin), range);

  const found: T[] = [];
  for (const one of all) {
    if (found.length === top) break;
    if (fits(open(one))) found.push(one);
  }
  const { items, continuation } = pageOf(found, range);
  return { items: items.map((one) => rowOf(query, open(one))), continuation };
}

/** All those for which the condition of a query holds. */
export const selectAll = <T>({ where }: TwinQuery, all: readonly T[], twinOf: (one: T) => JsonObject): T[] =>
  all.filter((one) => where === undefined || where(once(() => twinOf(one))) === true);

function scan<T>(
  all: readonly T[],
  open: (one: T) => Twin,
  fits: (twin: Twin) => boolean,
  row: (twin: Twin) => JsonObject,
  { first, size }: PageRange,
): Page<JsonObject> {
  const items: JsonObject[] = [];
  for (let at = first; at < all.length; at++) {
    const twin = open(all[at] as T);
    if (!fits(twin)) continue;
    if (items.length === size) return { items, continuation: String(at) };
    items.push(row(twin));
  }
  return { items, continuation: undefined };
}

/** The whole twin, or its columns: those that it has. */
function rowOf({ select }: TwinQuery, twin: Twin): JsonObject {
  if (!select) return twin();
  const row: JsonObject = Object.create(null);
  for (const { name, path } of select) {
    const value = path && valueAt(path, twin);
    if (value !== undefined) row[name] = value;
  }
  return row;
}

function once(make: () => JsonObject): Twin {
  let made: JsonObject | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
