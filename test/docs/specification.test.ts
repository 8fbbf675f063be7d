import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decisionPages, decisionsIn, ownPart } from '../../scripts/decisions.ts';
import { chapters, proofs, rules } from '../../scripts/specification.ts';
import { catalogue } from '../../src/messages/index.ts';

describe('the rules of the specification', () => {
  const proven = proofs();
  it('are each proven by a test that names them in its title', () =>
    expect(rules.filter((id) => !proven.some((proof) => proof.rules.includes(id)))).toEqual([]));
  it('are named at the end of a title, and exist', () =>
    expect(proven.filter((proof) => !proof.isAtEnd || proof.rules.some((id) => !rules.includes(id)))).toEqual([]));
  it('are about messages that there are', () => {
    const about = chapters.map(([name]) => name).filter((name) => name.includes('.'));
    expect(catalogue.map(({ name }) => name)).toEqual(expect.arrayContaining(about));
  });
});

describe('decisions', () => {
  /** The chapters of docs/maintainers/decisions.md, in its order; H is the hub emulator's. */
  const letters = 'RPBACGMDH';

  const byPage = new Map(decisionPages.map((file) => [file, readFileSync(file, 'utf8')]));
  const ids = decisionPages.flatMap((file) => decisionsIn(byPage.get(file) ?? '').map(({ id }) => id));

  it.each([...byPage])('are in the order of their ids in %s', (_, page) => {
    const inOrder = decisionsIn(page).map(({ id }) => [letters.indexOf(id.slice(0, 1)), Number(id.slice(1))] as const);
    expect(inOrder).toEqual(inOrder.toSorted(([one, first], [other, second]) => one - other || first - second));
    expect(inOrder).not.toEqual([]);
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

  it('have unique ids over all pages', () => expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]));

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
