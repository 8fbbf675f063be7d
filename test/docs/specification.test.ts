import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { decisionPages, decisionsIn } from '../../scripts/decisionIndex.ts';
import { catalogue } from '../../src/messages/index.ts';
import { filesBelow, reachedFrom } from '../support/imports.ts';
import { anchorsOf, readPage } from './markdown.ts';
import { collectTests } from './titles.ts';

interface Row {
  readonly file: string;
  readonly title: string;
}

const page = readPage('specification.md');

/** A rule is a paragraph that begins with its bold id, and the list after it. */
const rules = page.split(/^(?=\*\*S)/m).flatMap((part) => {
  const [, id, text = '', list = ''] = /^\*\*(S\d+\.\d+)\*\*((?:.|\n(?!\n))*)\n\n?((?:- .*\n)*)/.exec(part) ?? [];
  return id === undefined ? [] : [{ id, text, rows: list.trim().split('\n').flatMap(rowIn) }];
});

function rowIn(line: string): Row[] {
  if (line === '') return [];
  const [, file, title] = /^- `([^`]+)` › (.+)$/.exec(line) ?? [];
  if (file === undefined || title === undefined) throw new Error(`not a row: ${line}`);
  return filesOf(file).map((one) => ({ file: one, title }));
}

/** `messages/*` stands for every table in that folder. */
function filesOf(file: string): string[] {
  if (!file.endsWith('/*')) return [`test/${file}.test.ts`];
  const folder = dirname(`test/${file}`);
  const found = readdirSync(folder).filter((name) => name.endsWith('.test.ts'));
  return found.map((name) => join(folder, name));
}

/** A title that ends with … stands for all that begin so. */
const isMeant = (name: string, title: string): boolean =>
  title.endsWith('…') ? ` > ${name}`.includes(` > ${title.slice(0, -1)}`) : ` > ${name}`.endsWith(` > ${title}`);

const decisions = new Set(decisionPages.flatMap((file) => decisionsIn(readFileSync(file, 'utf8')).map(({ id }) => id)));
/** A title ends with the rules that its test proves, where no row of the page names it: `{S3.3 S8.1}`. */
const mark = /\{(S\d+\.\d+(?: S\d+\.\d+)*)\}/;
const isMarked = (file: string) => existsSync(file) && mark.test(readFileSync(file, 'utf8'));
const marked = filesBelow('test').filter(
  (file) =>
    file.endsWith('.test.ts') && [file, ...reachedFrom(file)].some((one) => one.startsWith('test/') && isMarked(one)),
);
const files = [...new Set([...rules.flatMap(({ rows }) => rows.map(({ file }) => file)), ...marked])];

describe('docs/specification.md', () => {
  let tests: Awaited<ReturnType<typeof collectTests>>;
  beforeAll(async () => {
    tests = await collectTests(files.filter((file) => existsSync(file)));
  });

  it('numbers its rules without gaps, each chapter from 1', () => {
    const expected: string[] = [];
    for (const { id } of rules) {
      const [chapter = '', number = ''] = id.slice(1).split('.');
      const before = expected.at(-1)?.slice(1).split('.') ?? ['0', '0'];
      const isNext = chapter === before[0];
      expected.push(`S${isNext ? chapter : Number(before[0]) + 1}.${isNext ? Number(before[1]) + 1 : 1}`);
      expect(number).not.toBe('');
    }
    expect(rules.map(({ id }) => id)).toEqual(expected);
    expect(page.match(/^\*\*S\d/gm)).toHaveLength(rules.length);
  });

  it('has a chapter of rules for each message', () => {
    const chapters = [...page.matchAll(/^## S\d+ · `([\w.]+)`$/gm)].map(([, name]) => name);
    expect(chapters.toSorted()).toEqual(catalogue.map(({ name }) => name).toSorted());
  });

  it('links every chapter in its contents', () => {
    const linked = [...page.matchAll(/\]\(#(s\d+--[\w-]+)\)/g)].map(([, anchor]) => anchor);
    expect(linked).toEqual(anchorsOf(page).filter((anchor) => /^s\d/.test(anchor)));
  });

  it.each(rules)('proves $id by existing tests', ({ id, rows }) => {
    const names = [...tests.values()].flat();
    expect(rows.length > 0 || names.some((name) => mark.exec(name)?.[1]?.split(' ').includes(id))).toBe(true);
    const missing = rows.filter(({ file, title }) => {
      return !(tests.get(file) ?? []).some((name) => isMeant(name, title));
    });
    expect(missing).toEqual([]);
  });

  it('has each rule that a title names', () => {
    const named = [...tests.values()].flat().flatMap((name) => mark.exec(name)?.[1]?.split(' ') ?? []);
    expect(named.filter((one) => !rules.some(({ id }) => id === one))).toEqual([]);
  });

  it('cites existing decisions at the end of a rule', () => {
    const cited = rules.flatMap(({ text }) => /\(([A-Z]\d+(?:, [A-Z]\d+)*)\)$/.exec(text)?.[1]?.split(', ') ?? []);
    expect(cited.filter((id) => !decisions.has(id))).toEqual([]);
    expect(cited).not.toEqual([]);
  });
});
