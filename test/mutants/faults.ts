import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A deliberate fault: a small change of one file that a test has to notice. */
export interface Fault {
  /** What it does wrong; unique in its file. */
  readonly fault: string;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/**
 * Reads faults from text. A line that is the path of a file begins its faults, `# ` one of them with its name. The lines after that are text of the
 * file in which `[-…-]` is taken away and `{+…+}` added, as `git diff --word-diff` shows it.
 *
 * @throws Error for a line that is out of place, and for a fault that finds or changes nothing
 */
export function faultsIn(text: string): Fault[] {
  const found: { fault: string; file: string; lines: string[] }[] = [];
  let file = '';
  for (const [index, line] of text.split('\n').entries()) {
    const last = found.at(-1);
    if (line === '') continue;
    if (line.startsWith('# ')) found.push({ fault: line.slice(2), file, lines: [] });
    else if (/^[\w-]+(\/[\w.-]+)+\.\w+$/.test(line)) file = line;
    else if (last?.file === file) last.lines.push(line);
    else throw new Error(`line ${index + 1} is no file and no part of a fault: ${line}`);
  }
  return found.map(({ lines, ...one }) => {
    const find = lines.join('\n').replace(change, '$1');
    const replace = lines.join('\n').replace(change, '$2');
    if (find === '' || find === replace || one.file === '')
      throw new Error(`“${one.fault}” has no file, or no text that it changes`);
    return { ...one, find, replace };
  });
}

const change = /\[-([\s\S]*?)-\]|\{\+([\s\S]*?)\+\}/g;

export const faults: readonly Fault[] = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.txt'))
  .sort()
  .flatMap((name) => faultsIn(readFileSync(join(import.meta.dirname, name), 'utf8')));

/**
 * The text of a file with a fault in it.
 *
 * @throws Error when the place of the fault is not there, or not once
 */
export function withFault(text: string, { fault, file, find, replace }: Fault): string {
  const [before, after, ...more] = text.split(find);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${file} must contain exactly once what “${fault}” changes: ${find}`);
  }
  return `${before}${replace}${after}`;
}
