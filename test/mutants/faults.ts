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
 * Reads faults from text. A line without a sign is a file; `# ` begins a fault of it with its name; lines with `-` are what is found, lines with
 * `+` what takes its place.
 *
 * @throws Error for a line that is out of place, and for a fault that finds nothing
 */
export function faultsIn(text: string): Fault[] {
  const found: { fault: string; file: string; find: string[]; replace: string[] }[] = [];
  let file = '';
  for (const [index, line] of text.split('\n').entries()) {
    const last = found.at(-1);
    if (line === '') continue;
    if (line.startsWith('# ')) found.push({ fault: line.slice(2), file, find: [], replace: [] });
    else if (line.startsWith('-') && last?.file === file) last.find.push(line.slice(1));
    else if (line.startsWith('+') && last?.file === file) last.replace.push(line.slice(1));
    else if (/^[\w-]+\//.test(line)) file = line;
    else throw new Error(`line ${index + 1} is no file and no part of a fault: ${line}`);
  }
  const faults = found.map(({ find, replace, ...one }) => ({
    ...one,
    find: find.join('\n'),
    replace: replace.join('\n'),
  }));
  const empty = faults.find((one) => one.find === '' || one.file === '');
  if (empty) throw new Error(`“${empty.fault}” has no file, or no text that it changes`);
  return faults;
}

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
