/** A string, with the colon of a key; a number; a bracket. */
const token = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|(-?\d[\d.eE+-]*)|([{}[\]])/g;

/**
 * Why a JSON value cannot be carried exactly by a program that reads and writes it anew, or is too deep (M7): a sentence
 * about the rule, without the value. Undefined when it can be carried. Decimals may round to the nearest double.
 * @param json well-formed
 */
export function carriageProblem(json: string, maxDepth: number): string | undefined {
  /** Of each open object its keys; of an open array nothing. */
  const open: (Set<string> | undefined)[] = [];
  for (const [, text, colon, number, bracket] of json.matchAll(token)) {
    if (bracket === '}' || bracket === ']') open.pop();
    else if (bracket !== undefined) {
      if (open.push(bracket === '{' ? new Set() : undefined) > maxDepth)
        return `is nested more than ${maxDepth} levels deep`;
    } else if (number !== undefined) {
      const problem = numberProblem(number);
      if (problem !== undefined) return problem;
    } else if (text !== undefined) {
      const value = text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
      if (!value.isWellFormed()) return 'has half of a surrogate pair';
      if (colon === undefined) continue;
      const keys = open.at(-1);
      if (keys?.has(value)) return 'has a key twice in an object';
      keys?.add(value);
    }
  }
  return undefined;
}

function numberProblem(literal: string): string | undefined {
  if (/^-?\d{1,15}$/.test(literal)) return undefined;
  const value = Number(literal);
  if (!Number.isFinite(value)) return 'has a number that is too large';
  const given = decimalOf(literal);
  if (value === 0) return given.digits === '' ? undefined : 'has a number that is too close to 0';
  const carried = decimalOf(String(value));
  const isWhole = given.exponent >= 0;
  const isSame = given.digits === carried.digits && given.exponent === carried.exponent;
  return isWhole && !isSame ? 'has a whole number that would change' : undefined;
}

/** The digits of a number literal without zeros at either end, and the power of ten of the last one. No digits: 0. */
function decimalOf(literal: string): { readonly digits: string; readonly exponent: number } {
  const [mantissa = '', exponent = '0'] = literal.replace(/^-/, '').split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = whole + fraction;
  let [begin, end] = [0, all.length];
  while (all[begin] === '0') begin += 1;
  while (end > begin && all[end - 1] === '0') end -= 1;
  return { digits: all.slice(begin, end), exponent: Number(exponent) - fraction.length + all.length - end };
}
