import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { filesBelow, loadedFrom } from '../../test/support/imports.ts';
import { projectOf } from '../../vitest.config.ts';

interface TestFile {
  readonly name: string;
  readonly loaded: ReadonlySet<string>;
  /** How often each word stands in its text or its name. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * The files of `npm test` that load a file, those first that are likely to notice a change of it: that of its name, then the more of the rare words
 * of its path and of the name of the change they have (weighed as by Okapi BM25), and the less they load.
 */
export function testFilesReaching(file: string, change = ''): string[] {
  const asked = new Set(wordsOf(`${file} ${change}`));
  const able = all().filter(({ loaded }) => loaded.has(file));
  const likeness = able.map((one) => likenessOf(one, asked));
  const most = Math.max(...likeness);
  const isOfSameName = (test: string) => basename(test, '.test.ts') === basename(file, '.ts');
  const distance = ({ name, loaded }: TestFile, index: number) =>
    Math.log(loaded.size) - (10 * (likeness[index] ?? 0)) / most - (isOfSameName(name) ? 10 : 0);
  return able
    .map((one, index) => [distance(one, index), one.name] as const)
    .sort(([one], [other]) => one - other)
    .map(([, name]) => name);
}

/** Most tests of programs start what was built, which no deliberate fault is in; these load what they test. */
const isAsked = (file: string) => projectOf(file) !== 'programs' || file === 'test/backendKit/adapter.test.ts';

let known: readonly TestFile[] | undefined;

function all(): readonly TestFile[] {
  known ??= ['test', 'iot-hub-emulator/test']
    .flatMap(filesBelow)
    .filter((file) => file.endsWith('.test.ts') && isAsked(file))
    .map((file) => ({
      name: file,
      loaded: loadedFrom(file),
      counts: countsOf(`${file} ${readFileSync(file, 'utf8')}`),
    }));
  return known;
}

function likenessOf({ counts }: TestFile, asked: ReadonlySet<string>): number {
  const length = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let likeness = 0;
  for (const word of asked) {
    const count = counts.get(word) ?? 0;
    if (count > 0) likeness += (count / (count + 0.3 + length / 1_700)) * rarityOf(word);
  }
  return likeness;
}

const rarities = new Map<string, number>();

function rarityOf(word: string): number {
  const files = all();
  const rarity =
    rarities.get(word) ?? Math.log(1 + files.length / files.filter(({ counts }) => counts.has(word)).length);
  rarities.set(word, rarity);
  return rarity;
}

function countsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Without endings, so that `sleeps` is found in `sleeping`. */
const wordsOf = (text: string): string[] =>
  text
    .split(/[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])/)
    .filter((word) => word.length > 2)
    .map((word) =>
      word
        .toLowerCase()
        .replace(/(ing|ed|es|s|ly|tion)$/, '')
        .slice(0, 7),
    );
