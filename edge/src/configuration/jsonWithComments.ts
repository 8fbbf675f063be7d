import { ConfigurationError } from './checks.ts';

// Between tokens: white space, line comments, block comments
const between = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const token =
  /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b|[{}[\]:,]/uy;

const maxDepth = 64;

/** A file of JSON with comments. */
export interface Json {
  readonly value: unknown;
  /** The line, from 1, of a place such as `modules[0].id`, or of the nearest value around it. */
  lineOf(place: string): number;
}

/**
 * Reads JSON with comments and trailing commas. Refuses duplicate names in an object.
 * @throws ConfigurationError that names the line
 */
export function readJsonWithComments(text: string): Json {
  let at = 0;
  let line = 1;
  let current = '';
  const lines = new Map<string, number>();

  function fail(problem: string): never {
    throw new ConfigurationError([`line ${line}: ${problem}`]);
  }

  const failExpecting = (expected: string): never => fail(`expected ${expected}, found ${shown()}`);

  /** A string or a number may be a password in the wrong place. */
  function shown(): string {
    if (current === '') return 'the end of the file';
    if (current.startsWith('"')) return 'a string';
    return /^[-\d]/.test(current) ? 'a number' : current;
  }

  /** Moves to the next token; it is empty at the end. */
  function step(): void {
    const end = at + current.length;
    between.lastIndex = end;
    const [skipped = ''] = between.exec(text) ?? [];
    line += skipped.split('\n').length - 1;
    at = end + skipped.length;
    token.lastIndex = at;
    current = token.exec(text)?.[0] ?? '';
    if (current === '' && at < text.length) fail(`unexpected ${JSON.stringify(text.charAt(at))}`);
  }

  function expect(...allowed: string[]): void {
    if (!allowed.includes(current)) failExpecting(allowed.join(' or '));
  }

  function value(depth: number, place: string): unknown {
    if (depth > maxDepth) fail(`nested more than ${maxDepth} levels deep`);
    if (!lines.has(place)) lines.set(place, line);
    if (current === '{') return members(depth, place);
    if (current === '[') return elements(depth, place);
    if (current === '' || /^[}\]:,]$/.test(current)) failExpecting('a value');
    const read: unknown = JSON.parse(current);
    step();
    return read;
  }

  /** What stands between brackets, with commas between and perhaps at the end. */
  function listed(end: string, readOne: () => void): void {
    step();
    while (current !== end) {
      readOne();
      expect(',', end);
      if (current === ',') step();
    }
    step();
  }

  function members(depth: number, place: string): unknown {
    const found = new Map<string, unknown>();
    listed('}', () => {
      if (!current.startsWith('"')) failExpecting('a name in quotes');
      const name: string = JSON.parse(current);
      if (found.has(name)) fail(`duplicate name ${current}`);
      const own = memberOf(place, name);
      lines.set(own, line);
      step();
      expect(':');
      step();
      found.set(name, value(depth + 1, own));
    });
    return Object.fromEntries(found);
  }

  function elements(depth: number, place: string): unknown {
    const found: unknown[] = [];
    listed(']', () => void found.push(value(depth + 1, elementOf(place, found.length))));
    return found;
  }

  step();
  const root = value(0, '');
  if (current !== '') failExpecting('the end of the file');
  return {
    value: root,
    lineOf(place) {
      for (let around = place; around !== ''; around = around.replace(/(^|\.|\[)[^.[]*$/, '')) {
        const known = lines.get(around);
        if (known !== undefined) return known;
      }
      return lines.get('') ?? 1;
    },
  };
}

/** The place of a member, and of an element, as problems name it. */
export const memberOf = (place: string, name: string): string => (place ? `${place}.${name}` : name);
export const elementOf = (place: string, index: number): string => `${place}[${index}]`;
