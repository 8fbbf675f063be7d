import { inexactIn, isWhole } from 'telemetry/exactJson.ts';
import { allKeys, bodyLimits, type Json, MalformedJson, memberOf, readJson, textIn } from '../protocol/json.ts';
import { placeIn } from '../protocol/rejection.ts';
import { Failure } from './failure.ts';
import { timeoutRule } from './schemas.ts';

/** The inputs of each body that has been read whose number is a whole one only because it was rounded. */
const rounded = new WeakMap<object, ReadonlySet<string>>();

/** Such inputs of a body that `readRequestBody` has read: for a data type without fractions they are wrong (M4). */
export const roundedInputs = (body: object): ReadonlySet<string> => rounded.get(body) ?? new Set();

/**
 * The value of a request body, within the limits of a device's body (R6). Refuses what cannot be carried exactly (M4).
 * @throws MalformedJson, Failure: both name the place
 */
export function readRequestBody(bytes: Buffer): unknown {
  const json = readJson(bytes, allKeys, bodyLimits);
  const inexact = inexactIn(json.text);
  if (inexact !== undefined) {
    throw new MalformedJson(`cannot be carried exactly: ${placeIn(inexact.path)} ${inexact.problem}`);
  }
  if (roundedIn(json).includes('timeout')) throw new Failure('invalid_request', timeoutRule);
  const { value } = json;
  const input = memberOf(json, 'input', allKeys, bodyLimits);
  if (input && json.isObject) rounded.set(value as object, new Set(roundedIn(input)));
  return value;
}

/** The names of outermost members such as `0.99999999999999999999`. */
const roundedIn = (json: Json): string[] =>
  [...json.members.keys()].filter((name) => {
    const text = textIn(json, name) ?? '';
    return /^[-\d]/.test(text) && Number.isInteger(Number(text)) && !isWhole(text);
  });
