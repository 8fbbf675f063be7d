import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decisionPages, decisionsIn, ownPart } from '../../scripts/decisions.ts';
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

describe('decisions', () => {
  /** The chapters of docs/maintainers/decisions.md, in its order; H is the hub emulator's. */
  const letters = 'RPBACGMDH';

  const byPage = new Map(decisionPages.map((file) => [file, readFileSync(file, 'utf8')]));
  const ids = decisionPages.flatMap((file) => decisionsIn(byPage.get(file) ?? '').map(({ id }) => id));

  describe.each([...byPage])('%s', (_, page) => {
    it('has its decisions in the order of their ids', () => {
      const inOrder = decisionsIn(page).map(
        ({ id }) => [letters.indexOf(id.slice(0, 1)), Number(id.slice(1))] as const,
      );
      expect(inOrder).toEqual(inOrder.toSorted(([one, first], [other, second]) => one - other || first - second));
      expect(inOrder).not.toEqual([]);
    });
  });

  /** Files that may cite a decision, without dependencies and what is built. */
  const citingFiles = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return /^(node_modules|dist|measurements)$/.test(entry.name) ? [] : citingFiles(path);
      return /\.(ts|js|mjs|md|jsonc?|ya?ml|example)$/.test(entry.name) ? [path] : [];
    });

  /** An id in a sentence, a comment or a link; not one in quotes, which is a value. */
  const citation = new RegExp(`(?<![\\w#$.'"/-])[${letters}]\\d+(?![\\w'"\`-])`, 'g');
  const citationsIn = (text: string): string[] => text.match(citation) ?? [];

  const folders = 'config deploy docs edge iot-hub-emulator page sandbox scripts src telemetry test'.split(' ');
  const ofRoot = readdirSync('.').filter((name) => /\.(md|js|ts|mjs|example)$/.test(name));
  const texts = [...ofRoot, ...folders.flatMap(citingFiles)].map((file) => ({
    file,
    text: readFileSync(file, 'utf8'),
  }));

  describe('decisions', () => {
    it('have unique ids over all pages', () =>
      expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]));

    it('exist where they are cited', () => {
      const missing = texts.flatMap(({ file, text }) =>
        citationsIn(text)
          .filter((id) => !ids.includes(id))
          .map((id) => `${file} cites ${id}`),
      );
      expect(missing).toEqual([]);
    });
    it('are cited outside the pages of decisions', () => {
      const isPage = (file: string) => decisionPages.some((page) => page === file);
      const cited = new Set(texts.flatMap(({ file, text }) => citationsIn(isPage(file) ? ownPart(text) : text)));
      expect(ids.filter((id) => !cited.has(id))).toEqual([]);
    });
  });
});
