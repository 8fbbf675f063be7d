import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The chapters of the specification of the device messages, S1 first, and how many rules each has: S9.3 is the third of
 * `model.create`. A test that proves a rule has its number at the end of its title, as S3.3 and S8.1 between braces.
 */
export const chapters: readonly (readonly [about: string, rules: number])[] = [
  ['reading messages', 7],
  ['properties of V2 actions', 9],
  ['properties of V1 events', 6],
  ['object models', 9],
  ['type definitions', 11],
  ['references', 2],
  ['identities', 3],
  ['acknowledgements', 4],
  ['model.create', 18],
  ['model.update', 11],
  ['type.create', 6],
  ['reference.create', 6],
  ['identity.update', 13],
  ['identity.delete', 7],
  ['Svc.Device.Created', 17],
  ['Svc.Device.Updated', 8],
  ['Svc.Device.SyncModel', 16],
  ['notifications', 7],
  ['authentication and authorisation', 3],
  ['errors', 8],
  ['limits', 2],
  ['versions of the interface', 4],
  ['remote methods', 9],
  ['remote methods at the edge', 7],
];

const idsOf = ([, count]: (typeof chapters)[number], chapter: number) =>
  Array.from({ length: count }, (_, rule) => `S${chapter + 1}.${rule + 1}`);

/** Ids of all rules, in order. */
export const rules: readonly string[] = chapters.flatMap(idsOf);

/** A title that names rules. */
export interface Proof {
  readonly file: string;
  /** What stands before the mark on its line. */
  readonly title: string;
  readonly rules: readonly string[];
  /** The mark ends the title. */
  readonly isAtEnd: boolean;
}

/** The titles below `folder` that name rules. The mark is in the source as it is in the title. */
export function proofs(folder = 'test'): Proof[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry): Proof[] => {
    const file = join(folder, entry.name);
    if (entry.isDirectory()) return proofs(file);
    if (!/\.ts$/.test(file)) return [];
    return [...readFileSync(file, 'utf8').matchAll(/^(.*) \{(S\d[^}'"`]*)\}(['"`])?/gm)].map(
      ([, before = '', named = '', end]) => ({
        ...{ file, rules: named.split(' '), isAtEnd: end !== undefined },
        title: end === undefined ? before.trim() : (before.split(end).at(-1) ?? ''),
      }),
    );
  });
}

/** What proves each rule: `npm run docs -- specification`. */
export function specification(): string {
  const all = proofs();
  return chapters
    .map((chapter, index) => {
      const lines = idsOf(chapter, index).flatMap((id) => {
        const proven = all.filter((proof) => proof.rules.includes(id));
        return [`  ${id}`, ...proven.map(({ file, title }) => `    ${title}  (${file})`)];
      });
      return [`S${index + 1} ${chapter[0]}`, ...lines].join('\n');
    })
    .join('\n\n');
}
