import { invalidModification } from '../http/problem.ts';
import type { Effective } from './effective.ts';
import type { Version } from './version.ts';

type Member = Pick<Effective, 'groups' | 'baseTypeIds'> & { readonly typeId: string; readonly version: Version };

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));

/**
 * The uniqueness rules between two neighbouring versions of a type (400):
 * - a group is never left, and its properties stay the same: none is dropped, added or handed to another leader;
 * - a group is joined only through base types, not by beginning to declare `unique`;
 * - other base types need a new major version.
 */
export function checkSuccession(earlier: Member, later: Member): void {
  for (const [leader, names] of earlier.groups) {
    const still = later.groups.get(leader);
    if (!still) throw invalidModification('the version leaves a unique group of its predecessor');
    if (!sameNames(still, names)) {
      throw invalidModification('the version changes the properties of a unique group of its predecessor');
    }
  }
  if (later.groups.has(later.typeId) && !earlier.groups.has(earlier.typeId)) {
    throw invalidModification('the version begins a unique group of its own; only a new base type can bring one');
  }
  if (!sameNames([...earlier.baseTypeIds], [...later.baseTypeIds]) && earlier.version[0] === later.version[0]) {
    throw invalidModification('the version has other base types than its predecessor; that needs a new major version');
  }
}
