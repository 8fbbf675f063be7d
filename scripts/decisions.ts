export const decisionPages = [
  ...[
    'docs/maintainers/decisions.md',
    'docs/maintainers/performance.md',
    'edge/DECISIONS.md',
    'iot-hub-emulator/DECISIONS.md',
  ],
  'test/DECISIONS.md',
] as const;

export type Decision = Readonly<{ id: string; heading: string }>;

const first = /^(?:## .*\n+)?### [A-Z]\d+ /m;

/** A page has decisions behind the first one only. */
export const ownPart = (page: string): string => page.slice(0, page.search(first));

/** A decision is a chapter of the third level that begins with an id. */
export const decisionsIn = (page: string): readonly Decision[] =>
  [...page.matchAll(/^### (([A-Z]\d+) .*)$/gm)].map(([, heading = '', id = '']) => ({ id, heading }));

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
