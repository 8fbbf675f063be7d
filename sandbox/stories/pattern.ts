/** What a value should be: itself, a RegExp that a string has to match, or an array or object of such, with no key more or less. */
export type Pattern =
  | string
  | number
  | boolean
  | null
  | RegExp
  | readonly Pattern[]
  | { readonly [key: string]: Pattern };

export const anyGuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const anyTimestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Where `seen` differs from `expected`, one sentence for each place; empty when it does not. */
export function differences(seen: unknown, expected: Pattern, path = ''): string[] {
  const here = path || 'it';
  if (expected instanceof RegExp) {
    return typeof seen === 'string' && expected.test(seen)
      ? []
      : [`${here} is ${print(seen)}, which does not match ${expected}`];
  }
  if (typeof expected !== 'object' || expected === null) {
    return Object.is(seen, expected) ? [] : [`${here} is ${print(seen)} instead of ${print(expected)}`];
  }
  if (typeof seen !== 'object' || seen === null || Array.isArray(seen) !== Array.isArray(expected)) {
    return [`${here} is ${print(seen)} instead of ${Array.isArray(expected) ? 'an array' : 'an object'}`];
  }
  const seenFields = new Map(Object.entries(seen));
  const missing = Object.entries(expected).flatMap(([key, pattern]) =>
    seenFields.has(key)
      ? differences(seenFields.get(key), pattern, join(path, key))
      : [`${join(path, key)} is missing`],
  );
  const surplus = [...seenFields.keys()].filter((key) => !Object.hasOwn(expected, key));
  return [
    ...missing,
    ...surplus.map((key) => `${join(path, key)} is ${print(seenFields.get(key))}, which is not expected`),
  ];
}

const join = (path: string, key: string) => (path ? `${path}.${key}` : key);
const print = (value: unknown) => JSON.stringify(value) ?? String(value);
