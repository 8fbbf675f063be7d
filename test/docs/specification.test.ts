import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decisionPages, decisionsIn } from '../../scripts/decisions.ts';
import { catalogue } from '../../src/messages/index.ts';
import { filesBelow } from '../support/imports.ts';
import { anchorsOf, readPage } from './markdown.ts';

const page = readPage('specification.md');

/** A rule is a paragraph that begins with its bold id. */
const rules = [...page.matchAll(/^\*\*(S\d+\.\d+)\*\*((?:.|\n(?!\n))*)/gm)].map(([, id = '', text = '']) => ({
  id,
  text,
}));
const ids = rules.map(({ id }) => id);

/** A title ends with the rules that its test proves, as S3.3 and S8.1 between braces. The mark is in the source as it is in the title. */
const marks = filesBelow('test').flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/ \{(S\d[^}'"`]*)\}(['"`])?/g)].map(([, named = '', end]) => ({
    file,
    named,
    end,
  })),
);
const proven = new Set(marks.flatMap(({ named }) => named.split(' ')));

const decisions = new Set(decisionPages.flatMap((file) => decisionsIn(readFileSync(file, 'utf8')).map(({ id }) => id)));

describe('docs/specification.md', () => {
  it('numbers its rules without gaps, each chapter from 1', () => {
    const expected: string[] = [];
    for (const { id } of rules) {
      const [chapter = ''] = id.slice(1).split('.');
      const before = expected.at(-1)?.slice(1).split('.') ?? ['0', '0'];
      const isNext = chapter === before[0];
      expected.push(`S${isNext ? chapter : Number(before[0]) + 1}.${isNext ? Number(before[1]) + 1 : 1}`);
    }
    expect(ids).toEqual(expected);
    expect(page.match(/^\*\*S/gm)).toHaveLength(rules.length);
  });

  it('has a chapter of rules for each message', () => {
    const chapters = [...page.matchAll(/^## S\d+ · `([\w.]+)`$/gm)].map(([, name]) => name);
    expect(chapters.toSorted()).toEqual(catalogue.map(({ name }) => name).toSorted());
  });
  it('links every chapter in its contents', () => {
    const linked = [...page.matchAll(/\]\(#(s\d+--[\w-]+)\)/g)].map(([, anchor]) => anchor);
    expect(linked).toEqual(anchorsOf(page).filter((anchor) => /^s\d/.test(anchor)));
  });
  it('has no rule without a test that names it in its title', () =>
    expect(ids.filter((id) => !proven.has(id))).toEqual([]));
  it('has each rule that a title names, at its end', () => {
    const wrong = marks.filter(({ named, end }) => !end || named.split(' ').some((id) => !ids.includes(id)));
    expect(wrong).toEqual([]);
  });

  it('cites existing decisions at the end of a rule', () => {
    const cited = rules.flatMap(({ text }) => /\(([A-Z]\d+(?:, [A-Z]\d+)*)\)$/.exec(text)?.[1]?.split(', ') ?? []);
    expect(cited.filter((id) => !decisions.has(id))).toEqual([]);
    expect(cited).not.toEqual([]);
  });
});
