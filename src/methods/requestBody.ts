import { bodyLimits, MalformedJson, memberOf, readJson } from '../protocol/json.ts';
import { allKeys } from '../protocol/jsonKeys.ts';

/**
 * The value of a request body, within the limits of a device's body (R6). Refuses duplicate members of the body and of
 * `input`.
 * @throws MalformedJson
 */
export function readRequestBody(bytes: Buffer): unknown {
  const json = readJson(bytes, allKeys, bodyLimits);
  const [duplicate] = [...json.twice, ...(memberOf(json, 'input')?.twice ?? [])];
  if (duplicate !== undefined) throw new MalformedJson(`has a duplicate member: ${JSON.stringify(duplicate)}`);
  return json.value;
}
