import { printable } from './printable.ts';

const colours: Readonly<Record<string, number>> = { fatal: 35, error: 31, warn: 33, info: 32, debug: 36 };

/**
 * A line of the log for people: time (UTC), level, text, event and fields, and the stack of an error on lines of its own.
 * @param json one line
 */
export function prettyLine(json: string, hasColours: boolean): string {
  const { time, level, msg, event, err, instance: _, ...fields } = JSON.parse(json);
  const [on, off] = hasColours ? [`\u001b[${colours[level] ?? 0}m`, '\u001b[0m'] : ['', ''];
  const what = [msg, ...(event === undefined ? [] : [`(${event})`])].map((text) => printable(String(text))).join(' ');
  const more = Object.entries(fields).map(([name, value]) => `${printable(name)}=${shownValue(value)}`);
  const head = `${String(time).slice(11, 23)} ${on}${String(level).toUpperCase().padEnd(5)}${off} ${what}`;
  return `${[head, ...more].join('  ')}\n${err === undefined ? '' : errorLines(err)}`;
}

function shownValue(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[\w.:@/+-]+$/.test(value);
  return isPlain ? value : printable(JSON.stringify(value));
}

function errorLines({ stack, ...more }: { readonly stack?: string }): string {
  const lines = stack === undefined ? [] : stack.split('\n');
  return [...lines, JSON.stringify(more)].map((line) => `    ${printable(line.trim())}\n`).join('');
}
