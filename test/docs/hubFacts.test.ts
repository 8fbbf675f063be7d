import { existsSync, readFileSync } from 'node:fs';
import { facts } from 'iot-hub-emulator/facts';
import { describe, expect, it } from 'vitest';
import { reliances } from '../../scripts/hubFacts/reliances.ts';
import { filesBelow } from '../support/imports.ts';

const ids = facts.map(({ id }) => id);

describe('what relies on a fact about the hub', () => {
  it.each(Object.entries(reliances))('%s is listed with files that cite it', (id, { files }) => {
    expect(ids).toContain(id);
    expect(files.filter((file) => !existsSync(file) || !citedIn(file).includes(id))).toEqual([]);
  });
  it('is listed where the service cites one', () => {
    const unlisted = filesBelow('src').flatMap((file) =>
      citedIn(file)
        .filter((id) => !reliances[id]?.files.includes(file))
        .map((id) => `${file} cites ${id}`),
    );
    expect(unlisted).toEqual([]);
  });
});

/** As in `(fact c2d.pending)` or `(facts c2d.pending, c2d.quota)`. */
function citedIn(file: string): string[] {
  const text = readFileSync(file, 'utf8').replace(/\n\s*\*\s+/g, ' ');
  return [...text.matchAll(/\b[Ff]acts? ((?:[a-z0-9]+\.[a-z0-9-]+(?:, | and )?)+)/g)].flatMap(
    ([, list = '']) => list.match(/[a-z0-9]+\.[a-z0-9-]+/g) ?? [],
  );
}
