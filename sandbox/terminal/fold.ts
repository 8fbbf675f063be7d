import { stripVTControlCharacters } from 'node:util';

const colour = `${String.fromCharCode(27)}\\[[\\d;]*m`;
/** One visible character, with the colours that begin before it or end behind it. */
const cell = new RegExp(`(?:${colour})*.(?:${colour})*`, 'gu');

/**
 * Breaks a line that is longer than `width`: before a word, or within a long one, after `/`, `?`, `&` or `,`.
 * @param indent of what follows the first line; by default 4 more than that of the line
 */
export function fold(line: string, width = 80, indent = (/^ */.exec(line)?.[0].length ?? 0) + 4): string {
  let rest: readonly string[] = line.match(cell) ?? [];
  let [from, begin] = [/^ */.exec(line)?.[0].length ?? 0, ''];
  const lines: string[] = [];
  while (begin.length + rest.length > width) {
    const end = breakIn(rest.map(stripVTControlCharacters), from, width - begin.length);
    lines.push(begin + rest.slice(0, end).join('').trimEnd());
    rest = rest.slice(end);
    while (rest[0] !== undefined && stripVTControlCharacters(rest[0]) === ' ') rest = rest.slice(1);
    [from, begin] = [0, ' '.repeat(indent)];
  }
  return [...lines, begin + rest.join('')].join('\n');
}

/** How many of the characters to keep on the line: more than `least`, at most `room`. */
function breakIn(characters: readonly string[], least: number, room: number): number {
  const space = characters.lastIndexOf(' ', room);
  const within = Math.max(...[...'/?&,'].map((mark) => characters.lastIndexOf(mark, room - 1))) + 1;
  if (space > Math.max(least, room / 2) || (space > least && within <= space)) return space;
  return within > least + 1 ? within : room;
}
