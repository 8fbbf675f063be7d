import { type Json, leafOf, memberOf, untilRepeated } from '../protocol/json.ts';
import { keysOf } from '../protocol/jsonKeys.ts';
import type { JsonLimits } from '../protocol/jsonLimits.ts';
import { backslash, digit9, quote } from '../protocol/jsonTokens.ts';

/** Values of unique properties, as JSON text. */
export type UniqueValues = ReadonlyMap<string, Json>;

/** Reads the unique properties of a type in object models; a value may be plain or wrapped as `{"value": x}` (B2). */
export function createUniqueValues(names: readonly string[]) {
  const keys = keysOf(names);

  function read(model: Json, limits?: JsonLimits): { values: UniqueValues | undefined; twice: string | undefined } {
    const properties = model.members.get('properties');
    const isThere = properties !== undefined && names.length > 0 && names.length < properties.values;
    const found = isThere ? memberOf(model, 'properties', keys, limits) : undefined;
    if (found === undefined) return { values: undefined, twice: undefined };
    let [twice] = found.twice;
    if (found.members.size < names.length) return { values: undefined, twice };
    const values = new Map<string, Json>();
    for (const name of names) {
      const value = memberOf(found, name, wrapping);
      if (value?.twice.size) twice ??= name;
      const plain = value && unwrapped(value);
      if (plain !== undefined && plain.place.bytes[plain.place.start] !== letterN) values.set(name, plain);
    }
    return { values: values.size === names.length ? values : undefined, twice };
  }

  return {
    /** The values of a device's object model, undefined unless all are present; and a property that occurs twice, if any. */
    read: (model: Json) => read(model, untilRepeated),
    /** Whether an object model has these values. Each of them is decoded once, however many models there are. */
    matching(wanted: UniqueValues): (model: Json) => boolean {
      const checks = Array.from(wanted, ([name, value]) => [name, equalTo(value)] as const);
      return (model) => {
        const { values } = read(model);
        if (values === undefined) return false;
        return checks.every(([name, isEqual]) => {
          const value = values.get(name);
          return value !== undefined && isEqual(value);
        });
      };
    },
  };
}

const wrapping = keysOf(['value']);

function unwrapped(value: Json): Json | undefined {
  return value.size === 1 && value.members.has('value') ? leafOf(value, 'value') : value;
}

/** Of `null`: no other value begins with it. */
const letterN = 0x6e;

/** Arrays, objects and numbers beyond 2^53 are equal only if their texts are equal. */
function equalTo(value: Json): (other: Json) => boolean {
  if (isText(value)) return equalToText(value);
  const number = isNumber(value) ? Number(value.text) : Number.NaN;
  if (!Number.isSafeInteger(number)) return (other) => isWritten(value, other);
  return (other) => isWritten(value, other) || (isNumber(other) && Number(other.text) === number);
}

/** Texts are decoded only if one has escapes and they can be equal: an escape has at most six bytes for one. */
function equalToText(value: Json): (other: Json) => boolean {
  const length = lengthOf(value);
  const isEscaped = hasEscapes(value);
  return (other) => {
    const otherLength = lengthOf(other);
    if (!isText(other) || 6 * otherLength < length || 6 * length < otherLength) return false;
    return isEscaped || hasEscapes(other) ? other.value === value.value : isWritten(value, other);
  };
}

/** Whether they have the same text. */
function isWritten({ place }: Json, { place: other }: Json): boolean {
  if (place.end - place.start !== other.end - other.start) return false;
  return place.bytes.compare(other.bytes, other.start, other.end, place.start, place.end) === 0;
}

const lengthOf = ({ place: { start, end } }: Json): number => end - start;

const hasEscapes = ({ place: { bytes, start, end } }: Json): boolean => bytes.subarray(start, end).includes(backslash);

const isText = ({ place: { bytes, start } }: Json): boolean => bytes[start] === quote;

/** Only a number begins with a digit or a minus. */
const isNumber = ({ place: { bytes, start } }: Json): boolean =>
  (bytes[start] as number) <= digit9 && bytes[start] !== quote;
