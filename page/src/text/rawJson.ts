/** JSON as text: numbers of any size and the order of keys stay as they are. */

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The members of an object, each with the text of its value; undefined when the text is no object. */
export function members(text: string): [name: string, raw: string][] | undefined {
  if (!isJson(text) || !text.trim().startsWith('{')) return undefined;
  const found: [string, string][] = [];
  let depth = 0;
  let name: string | undefined;
  let from = 0;
  let previous = '';
  const take = (to: number) => {
    if (name !== undefined) found.push([name, text.slice(from, to).trim()]);
    name = undefined;
  };
  for (const { 0: one, index } of text.matchAll(token)) {
    if (one === '}' || one === ']') depth -= 1;
    if (depth === 0 && one === '}') take(index);
    if (depth === 1 && one === ',') take(index);
    if (depth === 1 && one === ':' && name === undefined) {
      name = String(JSON.parse(previous));
      from = index + 1;
    }
    if (one === '{' || one === '[') depth += 1;
    previous = one;
  }
  return found;
}

/** An object of these members, on lines of their own. */
export function objectOf(parts: readonly (readonly [name: string, raw: string])[]): string {
  if (parts.length === 0) return '{}';
  return `{\n${parts.map(([name, raw]) => `  ${JSON.stringify(name)}: ${raw}`).join(',\n')}\n}`;
}

/** JSON on indented lines; any other text as it is. */
export function indented(text: string): string {
  if (!isJson(text)) return text;
  let depth = 0;
  let line = '';
  let previous = '';
  const newline = () => `\n${'  '.repeat(depth)}`;
  for (const [one] of text.matchAll(token)) {
    const isEnd = one === '}' || one === ']';
    if (isEnd) depth -= 1;
    if (isEnd && previous !== '{' && previous !== '[') line += newline();
    else if (previous === '{' || previous === '[' || previous === ',') if (!isEnd) line += newline();
    line += one === ':' ? ': ' : one;
    if (one === '{' || one === '[') depth += 1;
    previous = one;
  }
  return line;
}
