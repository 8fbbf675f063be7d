/** A JSON text with comments has a fault; the message says where. */
export class Malformed extends Error {
  override name = 'Malformed';
}

// Between tokens: blanks, a comment of one line, or one of several.
const between = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const token =
  /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b|[{}[\]:,]/uy;

const deepest = 64;

/**
 * Reads JSON with comments. A name may not stand twice in one object.
 * @throws Malformed with the line
 */
export function readJsonWithComments(text: string): unknown {
  let at = 0;
  let current = '';

  function fail(what: string): never {
    throw new Malformed(`line ${text.slice(0, at).split('\n').length}: ${what}`);
  }

  /** Steps to the next token; empty at the end. */
  function step(): void {
    between.lastIndex = at + current.length;
    between.exec(text);
    at = between.lastIndex;
    token.lastIndex = at;
    current = token.exec(text)?.[0] ?? '';
    if (current === '' && at < text.length) fail(`is not JSON, at ${JSON.stringify(text.charAt(at))}`);
  }

  function expect(...wanted: string[]): void {
    if (wanted.includes(current)) return;
    fail(`${wanted.join(' or ')} is expected, ${current === '' ? 'but the file ends' : `not ${current}`}`);
  }

  function value(depth: number): unknown {
    if (depth > deepest) fail(`is nested more than ${deepest} levels deep`);
    if (current === '{') return members(depth);
    if (current === '[') return elements(depth);
    if (current === '' || /^[}\]:,]$/.test(current))
      fail(current === '' ? 'the file ends too early' : `a value is expected, not ${current}`);
    const read: unknown = JSON.parse(current);
    step();
    return read;
  }

  function members(depth: number): unknown {
    const found = new Map<string, unknown>();
    step();
    while (current !== '}') {
      if (!current.startsWith('"'))
        fail(`a name in quotes is expected, ${current === '' ? 'but the file ends' : `not ${current}`}`);
      const name: string = JSON.parse(current);
      if (found.has(name)) fail(`${current} stands twice in one object`);
      step();
      expect(':');
      step();
      found.set(name, value(depth + 1));
      expect(',', '}');
      if (current === ',') step(); // one behind the last member is no fault
    }
    step();
    return Object.fromEntries(found);
  }

  function elements(depth: number): unknown {
    const found: unknown[] = [];
    step();
    while (current !== ']') {
      found.push(value(depth + 1));
      expect(',', ']');
      if (current === ',') step();
    }
    step();
    return found;
  }

  step();
  const whole = value(0);
  if (current !== '') fail(`nothing is expected here, not ${current}`);
  return whole;
}
