import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { proven, unproven } from './negatives.ts';

// Each sentence of these pages that says what the service does not do has a test that proves it.

/** What metrics, fields, failures and alerts mean is held by the tests of those tables. */
function withoutTables(text: string): string {
  return text.replace(/^ *\|.*\n/gm, '');
}

/** The parts of the pages that promise something to users and devices. */
const promises = {
  'README.md': (text: string) => text.split('**What you can rely on**')[1]?.split('\n## ')[0] ?? '',
  'docs/guarantees.md': (text: string) => text.split('\n## How it is proven')[0] ?? '',
  'docs/result-codes.md': (text: string) => text.split('\n## Result codes\n')[0] ?? '',
  'docs/devices.md': (text: string) => text,
  'docs/first-deployment.md': withoutTables,
  'docs/troubleshooting.md': withoutTables,
  'docs/operations.md': withoutTables,
  'docs/metrics.md': withoutTables,
  'docs/methods.md': withoutTables,
  'edge/README.md': withoutTables,
};

const denies = /\b(not|no|never|nothing|nobody|none|neither|nor|cannot)\b/i;
/** Shorter ones stand in cells of tables: "yes", "no". */
const leastWords = 4;

const read = (page: string) => readFileSync(page, 'utf8');
const inOneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

function sentencesOf(text: string): string[] {
  const prose = text.replace(/<!--.*?-->|```.*?```/gs, '');
  const blocks = prose.split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) |[|#])|\|/);
  return blocks.flatMap((block) => inOneLine(block).split(/(?<=[.!?;:]) /));
}

describe.each(Object.entries(promises))('what %s denies', (page, promisesIn) => {
  const denials = sentencesOf(promisesIn(read(page))).filter(
    (one) => denies.test(one) && one.split(' ').length >= leastWords,
  );
  const known = [...(proven[page] ?? []).map(([says]) => says), ...(unproven[page] ?? [])];

  it('is proven, or is not about the service', () => {
    expect(denials.filter((sentence) => !known.some((says) => sentence.includes(says)))).toEqual([]);
  });

  it('is a sentence of the page', () => {
    expect(known.filter((says) => !denials.some((sentence) => sentence.includes(says)))).toEqual([]);
  });
});

describe.each(Object.entries(proven))('the proofs of %s', (page, rows) => {
  const text = inOneLine(read(page));

  it.each(rows)('%s', (says, ...tests) => {
    expect(text.includes(says), `${page} says so`).toBe(true);
    for (const test of tests) {
      const [file = '', title = ''] = test.split(' › ');
      expect(title).not.toBe('');
      expect(read(`test/${file}.ts`).includes(title), test).toBe(true);
    }
  });
});
