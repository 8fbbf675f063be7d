import { readFileSync, writeFileSync } from 'node:fs';
import { beginOf, withText } from './writtenPart.ts';

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

const index = 'index of decisions';
const begin = beginOf(index);

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
export function withIndex(page: string): string {
  const links = decisionsIn(page).map(({ id, heading }) => `[${id}](#${anchorOf(heading)})`);
  return withText(page, index, links.join(',\n'));
}

export function writeDecisionIndexes(): void {
  for (const file of decisionPages) writeFileSync(file, withIndex(readFileSync(file, 'utf8')));
}
