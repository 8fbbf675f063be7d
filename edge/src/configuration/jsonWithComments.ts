/** The message names the line. */
export class JsonError extends Error {
  override name = 'JsonError';
}

// Between tokens: white space, line comments, block comments
const between = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const token =
  /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b|[{}[\]:,]/uy;

const maxDepth = 64;

/**
 * Reads JSON with comments and trailing commas. Refuses duplicate names in an object.
 * @throws JsonError
 */
export function readJsonWithComments(text: string): unknown {
  let at = 0;
  let current = '';

  function fail(problem: string): never {
    throw new JsonError(`line ${text.slice(0, at).split('\n').length}: ${problem}`);
  }

  const failExpecting = (expected: string): never =>
    fail(`expected ${expected}, found ${current === '' ? 'the end of the file' : current}`);

  /** Moves to the next token; it is empty at the end. */
  function step(): void {
    between.lastIndex = at + current.length;
    between.exec(text);
    at = between.lastIndex;
    token.lastIndex = at;
    current = token.exec(text)?.[0] ?? '';
    if (current === '' && at < text.length) fail(`unexpected ${JSON.stringify(text.charAt(at))}`);
  }

  function expect(...allowed: string[]): void {
    if (!allowed.includes(current)) failExpecting(allowed.join(' or '));
  }

  function value(depth: number): unknown {
    if (depth > maxDepth) fail(`nested more than ${maxDepth} levels deep`);
    if (current === '{') return members(depth);
    if (current === '[') return elements(depth);
    if (current === '' || /^[}\]:,]$/.test(current)) failExpecting('a value');
    const read: unknown = JSON.parse(current);
    step();
    return read;
  }

  function members(depth: number): unknown {
    const found = new Map<string, unknown>();
    step();
    while (current !== '}') {
      if (!current.startsWith('"')) failExpecting('a name in quotes');
      const name: string = JSON.parse(current);
      if (found.has(name)) fail(`duplicate name ${current}`);
      step();
      expect(':');
      step();
      found.set(name, value(depth + 1));
      expect(',', '}');
      if (current === ',') step();
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
  const root = value(0);
  if (current !== '') failExpecting('the end of the file');
  return root;
}
