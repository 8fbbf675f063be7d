import { bodyLimits, MalformedJson, memberOf, readJson } from '../protocol/json.ts';
import { allKeys } from '../protocol/jsonKeys.ts';

/**
 * The value of a request's body, within the limits of a device's body (R6). A name must not occur twice where it is read.
 * @throws MalformedJson
 */
export function readBody(bytes: Buffer): unknown {
  const json = readJson(bytes, allKeys, bodyLimits);
  const input = memberOf(json, 'input');
  const [twice] = [...json.twice, ...(input?.twice ?? [])];
  if (twice !== undefined) throw new MalformedJson(`has a member twice: ${JSON.stringify(twice)}`);
  return json.value;
}
