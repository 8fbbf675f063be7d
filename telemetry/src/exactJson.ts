/** The tokens of well-formed JSON: a string with what follows up to the colon of a key; a bracket or a comma; a number or a word. */
export const jsonToken = /"[^"\\]*(?:\\.[^"\\]*)*"\s*:?|[{}[\],]|[^\s"{}[\],:]+/g;

/**
 * What of a JSON text would be lost if it were read into values and written again: the first repeated key, number that a double cannot
 * stand for, or half a surrogate pair; undefined when there is none (M4, M7). Linear.
 * @param json well-formed, and of UTF-8: only escapes may be half a surrogate pair
 * @returns the keys and indexes that lead there; and the end of a sentence that begins with the place, which quotes nothing
 */
export function inexactIn(json: string) {
  /** Of each open object its keys; of an open array nothing. */
  const open: (Set<string> | undefined)[] = [];
  const path: (string | number)[] = [];
  for (const token of json.match(jsonToken) ?? []) {
    let problem: string | undefined;
    if (token.startsWith('"')) {
      const keys = token.endsWith(':') ? open.at(-1) : undefined;
      const isEscaped = token.includes('\\');
      if (keys === undefined && !isEscaped) continue;
      const literal = token.slice(0, token.lastIndexOf('"') + 1);
      const value: string = isEscaped ? JSON.parse(literal) : literal.slice(1, -1);
      if (keys) path[path.length - 1] = value;
      if (keys?.has(value)) problem = 'occurs twice';
      else if (!value.isWellFormed()) {
        problem = `has ${keys ? 'a name with ' : ''}half a surrogate pair, which is not Unicode text`;
      }
      keys?.add(value);
    } else if (token === '{' || token === '[') {
      open.push(token === '{' ? new Set() : undefined);
      path.push(0);
    } else if (token === '}' || token === ']') {
      open.pop();
      path.pop();
    } else if (token === ',') {
      const step = path.at(-1);
      if (typeof step === 'number') path[path.length - 1] = step + 1;
    } else problem = numberProblem(token);
    if (problem !== undefined) return { path, problem };
  }
  return undefined;
}

/** Whether a value can be serialised: it has at most so many levels of arrays and objects. */
export function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isShallow(member, depth - 1));
}

/**
 * Why the double that is nearest to a number must not stand for it; undefined when it may, and for a word. Decimals may be rounded; whole numbers
 * may not become others, and nothing may become infinite or zero.
 */
function numberProblem(literal: string): string | undefined {
  const value = Number(literal);
  const size = Math.abs(value);
  if (Number.isNaN(value) || (size > 0 && size <= Number.MAX_SAFE_INTEGER)) return undefined; // each whole number of this size is a double
  if (!Number.isFinite(value)) return 'is a number beyond the range of a double';
  const decimal = decimalOf(literal);
  if (value === 0) return decimal.digits === '' ? undefined : 'is a number so small that it would become 0';
  const carried = decimalOf(String(value));
  const isSame = carried.digits === decimal.digits && carried.exponent === decimal.exponent;
  if (isSame || decimal.exponent < 0) return undefined;
  return 'is a whole number that would change, because a double cannot hold it; use a string';
}

/**
 * The size of a number, without its sign: `digits` × 10^`exponent`. The first and the last digit are not 0; zero has no digits. Linear: a regular
 * expression would read a row of zeros again from each of them.
 */
export function decimalOf(literal: string) {
  const start = literal.startsWith('-') ? 1 : 0;
  const e = literal.search(/[eE]/);
  const end = e < 0 ? literal.length : e;
  const power = e < 0 ? 0 : Number(literal.slice(e + 1));
  const dot = literal.indexOf('.');
  const all = dot < 0 ? literal.slice(start, end) : literal.slice(start, dot) + literal.slice(dot + 1, end);
  const fraction = dot < 0 ? 0 : end - dot - 1;
  let from = 0;
  while (all[from] === '0') from += 1;
  let to = all.length;
  while (to > from && all[to - 1] === '0') to -= 1;
  return { digits: all.slice(from, to), exponent: power - fraction + all.length - to };
}
