import { readFileSync } from 'node:fs';
import { anchorOf } from '../../scripts/decisions.ts';

export const readPage = (name: string): string => readFileSync(`docs/${name}`, 'utf8').replace(/<!--.*?-->/gs, '');

/** The rows of the table whose first column has this heading, each by the headings of its columns. */
export function tableOf(page: string, firstHeading: string): Record<string, string>[] {
  const lines = page.split('\n').filter((line) => line.startsWith('|') || line === '');
  const start = lines.findIndex((line) => cellsOf(line)[0] === firstHeading);
  if (start < 0) throw new Error(`no table begins with the column ${firstHeading}`);
  const end = lines.indexOf('', start);
  const headings = cellsOf(lines[start] ?? '');
  return lines.slice(start + 2, end < 0 ? undefined : end).map((line) => {
    const cells = cellsOf(line);
    if (cells.length !== headings.length) throw new Error(`as many cells as headings: ${line}`);
    return Object.fromEntries(headings.map((heading, index) => [heading, cells[index] ?? '']));
  });
}

const cellsOf = (line: string): string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

/** Where links into a page can lead: the anchors of its headings, as GitHub makes them, and those set by hand. */
export const anchorsOf = (page: string): string[] => [
  ...[...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading)),
  ...[...page.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id),
];

export const codesIn = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
