import { members, scalar } from '../requests/json.ts';
import type { ObjectModel } from './objectModel.ts';

type Values = ReadonlyMap<string, string>;

/** Sets of property names that get an index of their own; queries by further sets walk over the bucket. */
const MOST_INDEXES = 8;

/** The values of the named properties in their normal form, joined; `undefined` when one is missing. */
function valuesKey(names: readonly string[], lookUp: (name: string) => string | undefined): string | undefined {
  const texts = names.map(lookUp);
  return texts.every((text) => text !== undefined) ? JSON.stringify(texts) : undefined;
}

function keyOf(object: ObjectModel, names: readonly string[]): string | undefined {
  const raw = members(object.properties);
  return valuesKey(names, (name) => scalar(raw.get(name) ?? 'null')?.text);
}

/** Object models of one tenant, model and type id. The first query by a set of property names makes an index for it. */
export function createBucket() {
  const objects = new Set<ObjectModel>();
  const indexes = new Map<string, { names: readonly string[]; hits: Map<string, Set<ObjectModel>> }>();

  type Index = NonNullable<ReturnType<typeof indexes.get>>;

  function addToIndex({ names, hits }: Index, object: ObjectModel): void {
    const key = keyOf(object, names);
    if (key === undefined) return;
    const set = hits.get(key);
    if (set) set.add(object);
    else hits.set(key, new Set([object]));
  }

  function removeFromIndex({ names, hits }: Index, object: ObjectModel): void {
    const key = keyOf(object, names);
    const set = key === undefined ? undefined : hits.get(key);
    if (key === undefined || !set?.delete(object)) return;
    if (set.size === 0) hits.delete(key);
  }

  function indexFor(names: readonly string[]): Index | undefined {
    const id = JSON.stringify(names);
    const known = indexes.get(id);
    if (known || indexes.size === MOST_INDEXES) return known;
    const index: Index = { names, hits: new Map() };
    for (const object of objects) addToIndex(index, object);
    indexes.set(id, index);
    return index;
  }

  return {
    add(object: ObjectModel): void {
      objects.add(object);
      for (const index of indexes.values()) addToIndex(index, object);
    },
    remove(object: ObjectModel): void {
      objects.delete(object);
      for (const index of indexes.values()) removeFromIndex(index, object);
    },
    /** Object models with all these values: name → normal form. */
    find(values: Values): ObjectModel[] {
      const names = [...values.keys()].sort();
      const wanted = valuesKey(names, (name) => values.get(name));
      const index = indexFor(names);
      if (index) return wanted === undefined ? [] : [...(index.hits.get(wanted) ?? [])];
      return [...objects].filter((object) => keyOf(object, names) === wanted);
    },
  };
}
