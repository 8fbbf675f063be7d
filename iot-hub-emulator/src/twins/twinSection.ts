import { ExactNumber, isObject, type Json, type JsonObject, numeric } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';

/** A section with its version and metadata, as `azure-iothub` shows it. */
export type SectionView = JsonObject & { $version: number; $metadata: JsonObject };

/** One part of a twin: tags, desired or reported properties. */
export interface Section {
  /** Merge a patch in: objects deep, `null` removes. With `replace`, only what the patch says is left. All or nothing. */
  apply(patch: Json, replace?: boolean): void;
  /** Remove all there is. The answer is the names that it had. */
  clear(): string[];
  /** The values alone. */
  values(): JsonObject;
  view(): SectionView;
  version(): number;
  /** All of it, to make the same section from later. */
  toStored(): StoredSection;
}

/** A section as it is stored on disk. */
export interface StoredSection {
  values: JsonObject;
  metadata: JsonObject;
  version: number;
}

const maxDepth = 10;
const maxNameBytes = 1024;
const maxTextBytes = 4096;
const integers = { least: -(2 ** 52), most: 2 ** 52 - 1 };
const counted = { number: 8, boolean: 4 };

/** A patch without what is passed over: on its top level, names that begin with a dollar sign. */
export const valuesOf = (patch: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(patch).filter(([name]) => !name.startsWith('$')));

/** A section without values; `createdAt` is when its twin was created. */
export function freshSection(createdAt: string): StoredSection {
  return { values: {}, metadata: { $lastUpdated: createdAt }, version: 1 };
}

/**
 * A section that begins as `from` and holds `bytes` at most, as IoT Hub counts: names and texts in UTF-8 without control
 * characters, 8 for a number, 4 for true or false. `path` is how error messages call it. A name has no dots, dollar signs, spaces
 * or control characters; what begins with a dollar sign on the top level of a patch is passed over.
 */
export function createSection(path: string, bytes: number, from: StoredSection, now: () => number): Section {
  let values = copy(from.values);
  let metadata = copy(from.metadata);
  let { version } = from;

  const stamp = () => ({ $lastUpdated: new Date(now()).toISOString(), $lastUpdatedVersion: version + 1 });

  const merge = (into: JsonObject, meta: JsonObject, patch: JsonObject): void => {
    Object.assign(meta, stamp());
    for (const [name, value] of Object.entries(patch)) {
      if (value === null) {
        delete into[name];
        delete meta[name];
      } else if (isObject(value)) {
        const [inner, innerMeta] = [into[name], meta[name]];
        const [target, targetMeta] =
          isObject(inner) && isObject(innerMeta) ? [inner, innerMeta] : [emptyObject(), emptyObject()];
        merge(target, targetMeta, value);
        into[name] = target;
        meta[name] = targetMeta;
      } else {
        into[name] = value;
        meta[name] = stamp();
      }
    }
  };

  return {
    apply(patch, replace = false) {
      if (!isObject(patch)) throw refused(`${path} is an object.`);
      const named = valuesOf(patch);
      check(named, path, 0);
      const [nextValues, nextMetadata] = replace ? [emptyObject(), emptyObject()] : [copy(values), copy(metadata)];
      merge(nextValues, nextMetadata, named);
      if (sizeOfValue(nextValues) > bytes) throw refused(`${path} has more than ${bytes} bytes.`);
      values = nextValues;
      metadata = nextMetadata;
      version += 1;
    },
    clear() {
      const names = Object.keys(values);
      values = emptyObject();
      metadata = Object.assign(emptyObject(), stamp());
      version += 1;
      return names;
    },
    values: () => copy(values),
    view: () => ({ ...copy(values), $metadata: copy(metadata), $version: version }),
    version: () => version,
    toStored: () => ({ values, metadata, version }),
  };
}

function check(value: Json, path: string, depth: number): void {
  if (typeof value === 'string' && Buffer.byteLength(value) > maxTextBytes)
    throw refused(`${path} has more than ${maxTextBytes} bytes.`);
  if (typeof value === 'number' || value instanceof ExactNumber) checkNumber(value, path);
  else if (typeof value === 'object' && value !== null) {
    if (depth === maxDepth) throw refused(`${path} is nested more than ${maxDepth} levels deep.`);
    for (const [name, inner] of Object.entries(value)) {
      if (!Array.isArray(value)) checkName(name, path);
      check(inner, `${path}.${name}`, depth + 1);
    }
  }
}

function checkName(name: string, path: string): void {
  if (/[.$\s\p{Cc}]/u.test(name) || name === '') throw refused(`${path} has a name that a twin cannot have.`);
  if (Buffer.byteLength(name) > maxNameBytes) throw refused(`${path} has a name of more than ${maxNameBytes} bytes.`);
}

/** What is written with a dot or an exponent is no integer. */
function checkNumber(value: number | ExactNumber, path: string): void {
  const text = value instanceof ExactNumber ? value.text : String(value);
  const near = numeric(value);
  const isInteger = /^-?\d+$/.test(text);
  if (!Number.isFinite(near) || (isInteger && (near < integers.least || near > integers.most)))
    throw refused(`${path} is a number that a twin cannot have: integers are ${integers.least} to ${integers.most}.`);
}

function sizeOfValue(value: Json): number {
  if (typeof value === 'string') return sizeOfText(value);
  if (typeof value === 'number' || value instanceof ExactNumber) return counted.number;
  if (typeof value === 'boolean') return counted.boolean;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + sizeOfValue(item), 0);
  return Object.entries(value ?? {}).reduce((sum, [name, item]) => sum + sizeOfText(name) + sizeOfValue(item), 0);
}

const sizeOfText = (text: string): number => Buffer.byteLength(text.replaceAll(/\p{Cc}/gu, ''));

// names such as __proto__ are names like any other
function emptyObject(): JsonObject {
  return Object.create(null);
}

function copy(object: JsonObject): JsonObject {
  const copied = emptyObject();
  for (const [name, value] of Object.entries(object)) copied[name] = isObject(value) ? copy(value) : value;
  return copied;
}

function refused(sentence: string): Refusal {
  return new Refusal('com.microsoft:argument-error', sentence);
}
