import { isSame, members, scalar } from '../requests/json.ts';
import { conflict, forbidden, invalidModification } from '../requests/problem.ts';
import { type Device, isReadable, type Ownable } from './ownership.ts';

/** Unique groups: type id of the leader, who declares `unique` → its property names. */
export type Groups = ReadonlyMap<string, readonly string[]>;

/** An object model that exists. */
interface Existing extends Ownable {
  readonly objectId: string;
  readonly model: string;
  readonly type: { readonly ref: string };
}

/** One key per unique group whose properties all have a value: its leader, then the values in their normal form. */
export function uniqueKeys(groups: Groups, properties: string): string[][] {
  const values = groups.size > 0 ? members(properties) : new Map<string, string>();
  return [...groups].flatMap(([leader, names]) => {
    const texts = names.map((name) => scalar(values.get(name) ?? 'null')?.text);
    return texts.every((text) => text !== undefined) ? [[leader, ...texts]] : [];
  });
}

/** 409 names the object model that exists, so that the caller can update it; 403 when it is another device's. */
function refuse(existing: Existing, device: Device | undefined, what: string, foreign: string): never {
  if (device && !isReadable(existing, device)) throw forbidden(foreign);
  throw conflict('Already exists', what, { objectId: existing.objectId, type: existing.type.ref });
}

/** A new object model is the only one of its model and object id, and its object is not another device's. */
export function checkAbsent(siblings: readonly Existing[], model: string, device?: Device): void {
  for (const sibling of siblings) {
    if (sibling.model === model || (device && !isReadable(sibling, device))) {
      refuse(sibling, device, 'the object model exists', 'the object belongs to another device');
    }
  }
}

/** A new object model takes no unique values that another one has. Without a device it is an administrator's. */
export function checkUntaken(holders: readonly Existing[], device?: Device): void {
  const [holder] = holders;
  if (!holder) return;
  const foreign = 'the unique properties belong to an object of another device';
  refuse(holder, device, 'an object model with these unique properties exists', foreign);
}

/**
 * A unique property never changes once it has a value (400). `uniqueProperties` are those of the type before; `before` and
 * `after` are the raw texts of the properties.
 */
export function checkUnchanged(uniqueProperties: readonly string[], before: string, after: string): void {
  const old = members(before);
  const now = members(after, '$.properties');
  for (const name of uniqueProperties) {
    const value = old.get(name);
    if (value === undefined || !scalar(value)) continue;
    if (!isSame(value, now.get(name)))
      throw invalidModification(`$.properties.${name} is unique and cannot be changed`);
  }
}

/** An update takes no unique values that another object model has (400). */
export function checkStillUnique<T>(object: T, holders: readonly T[]): void {
  if (holders.some((holder) => holder !== object)) {
    throw invalidModification('another object model has these unique properties');
  }
}
