import { readFileSync, writeFileSync } from 'node:fs';

/**
 * The pages that have decisions, each with an index of its own. `npm run docs` rewrites the indexes; a test fails when one is behind.
 */
export const decisionPages = [
  'docs/decisions.md',
  'docs/performance.md',
  'edge/DECISIONS.md',
  'iot-hub-emulator/DECISIONS.md',
  'test/DECISIONS.md',
] as const;

const begin = '<!-- index of decisions: written by `npm run docs` -->';
const end = '<!-- /index of decisions -->';

export interface Decision {
  readonly id: string;
  /** With the id. */
  readonly heading: string;
  readonly body: string;
}

/** A page has decisions behind its index only. */
export const ownPart = (page: string): string => page.slice(0, page.indexOf(begin));
export const decidingPart = (page: string): string => page.slice(page.indexOf(begin));

/** A decision is a chapter of the third level that begins with an id. */
export const decisionsIn = (page: string): readonly Decision[] =>
  decidingPart(page)
    .split(/^(?=#{2,3} )/m)
    .flatMap((chapter) => {
      const [, heading = '', id, body = ''] = /^### (([A-Z]\d+) .*)\n\n((?:.|\n)*)$/.exec(chapter) ?? [];
      return id === undefined ? [] : [{ id, heading, body }];
    });

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** The page with its index renewed. */
export function withIndex(file: string, page: string): string {
  const [before, rest] = page.split(begin);
  const [, after] = rest?.split(end) ?? [];
  if (before === undefined || after === undefined) throw new Error(`${file} lacks the lines ${begin} and ${end}`);
  const links = decisionsIn(page).map(({ id, heading }) => `[${id}](#${anchorOf(heading)})`);
  return `${before}${begin}\n\n${links.join(' ·\n')}\n\n${end}${after}`;
}

export function writeDecisionIndexes(): void {
  for (const file of decisionPages) writeFileSync(file, withIndex(file, readFileSync(file, 'utf8')));
}
