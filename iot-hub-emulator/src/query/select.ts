import type { JsonObject } from '../values/json.ts';
import { createGroups } from './groups.ts';
import { compareInOrder } from './operators.ts';
import { type Page, type PageRange, pageOf } from './page.ts';
import type { TwinQuery } from './parse.ts';
import { type Twin, type Value, valueAt } from './paths.ts';

/**
 * A page of the rows that a query selects of `all`, in their order. Without ORDER BY, TOP and groups, it looks at no more
 * of them than the page needs, and the continuation is the number of the next one that fits; it keeps no twin but those of the page.
 */
export function selectPage<T>(
  query: TwinQuery,
  all: readonly T[],
  twinOf: (one: T) => JsonObject,
  range: PageRange,
): Page<JsonObject> {
  const { select, top, where, groupBy, orderBy } = query;
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
  if (orderBy.length === 0 && top === undefined) return scan(all, open, fits, (twin) => rowOf(query, twin), range);

  const found: { one: T; keys: readonly Value[] }[] = [];
  for (const one of all) {
    const twin = open(one);
    if (fits(twin)) found.push({ one, keys: orderBy.map(({ path }) => valueAt(path, twin)) });
  }
  found.sort(({ keys: a }, { keys: b }) => {
    for (const [i, { descending }] of orderBy.entries()) {
      const sign = compareInOrder(a[i], b[i]);
      if (sign !== 0) return descending ? -sign : sign;
    }
    return 0;
  });
  const { items, continuation } = pageOf(found.slice(0, top), range);
  return { items: items.map(({ one }) => rowOf(query, open(one))), continuation };
}

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
