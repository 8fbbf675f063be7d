/**
 * Escapes control characters, line separators and characters that set the direction of writing, as in `\u001b`: texts of
 * devices and backends must not control a terminal or appear as other text.
 */
export const printable = (text: string): string =>
  steering.test(text) ? text.replaceAll(everySteering, escaped) : text;

/** The same for JSON text: its strings have the lower control characters escaped already, and line feeds separate its lines. */
export const printableJson = (json: string): string =>
  steeringInJson.test(json) ? json.replaceAll(everySteeringInJson, escaped) : json;

const steeringInJson = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const everySteeringInJson = new RegExp(steeringInJson, 'g');
const steering = new RegExp(`\\p{Cc}|${steeringInJson.source}`, 'u');
const everySteering = new RegExp(steering, 'gu');

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const colours: Readonly<Record<string, number>> = { fatal: 35, error: 31, warn: 33, info: 32, debug: 36 };

/** A line of the log, in JSON, for people: time (UTC), level, text, event and fields, and the stack of an error on lines of its own. */
export function prettyLine(json: string, hasColours: boolean): string {
  const { time, level, msg, event, err, instance: _, ...fields } = JSON.parse(json);
  const [on, off] = hasColours ? [`\u001b[${colours[level] ?? 0}m`, '\u001b[0m'] : ['', ''];
  const what = [msg, ...(event === undefined ? [] : [`(${event})`])].map((text) => printable(String(text))).join(' ');
  const more = Object.entries(fields).map(([name, value]) => `${printable(name)}=${shownValue(value)}`);
  const head = `${String(time).slice(11, 23)} ${on}${String(level).toUpperCase().padEnd(5)}${off} ${what}`;
  const { stack, ...ofError } = err ?? {};
  const below = err === undefined ? [] : [...(stack?.split('\n') ?? []), JSON.stringify(ofError)];
  return `${[head, ...more].join('  ')}\n${below.map((line) => `    ${printable(line.trim())}\n`).join('')}`;
}

export const shownValue = (value: unknown): string =>
  printable(typeof value === 'string' && /^[\w.:@/+-]+$/.test(value) ? value : JSON.stringify(value));

/** Longer texts are compared by their beginning only: the cost is the product of both lengths. */
const longest = 100;

/** The candidate with the fewest differences from a misspelt name; undefined when it has more than `most`. */
export function nearest(name: string, candidates: readonly string[], most = Number.POSITIVE_INFINITY) {
  const distances = candidates.map((candidate) => distance(name.slice(0, longest), candidate.slice(0, longest)));
  const least = Math.min(...distances);
  return least <= most ? candidates[distances.indexOf(least)] : undefined;
}

/** Characters to insert, delete or replace (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [above, character] of [...from].entries()) {
    const next = [above + 1];
    for (let index = 0; index < to.length; index += 1) {
      const replaced = (row[index] ?? 0) + (character === to[index] ? 0 : 1);
      next.push(Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
