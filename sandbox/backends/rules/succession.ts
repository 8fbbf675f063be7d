import { invalidModification } from '../requests/problem.ts';
import type { Groups } from './uniqueness.ts';

interface Grouped {
  readonly typeId: string;
  readonly groups: Groups;
}

interface Versioned extends Grouped {
  /** Major, minor, patch. */
  readonly version: readonly number[];
  /** Each as `<typeId>@<major version>`. */
  readonly baseTypes: ReadonlySet<string>;
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));

/**
 * What holds between two neighbouring versions of a type (400):
 * - a unique group is never left, and its properties stay the same: none is dropped, added or moved to another leader;
 * - a group is joined only through base types, not by beginning to declare `unique`;
 * - other base types, and other major versions of them, need a new major version. D87
 */
export function checkSuccession(earlier: Versioned, later: Versioned): void {
  for (const [leader, names] of earlier.groups) {
    const laterNames = later.groups.get(leader);
    if (!laterNames) throw invalidModification('the version leaves a unique group of its predecessor');
    if (!isSameSet(laterNames, names)) {
      throw invalidModification('the version changes the properties of a unique group of its predecessor');
    }
  }
  if (later.groups.has(later.typeId) && !earlier.groups.has(earlier.typeId)) {
    throw invalidModification('the version begins a unique group of its own; only a new base type can bring one');
  }
  if (earlier.version[0] === later.version[0] && !isSameSet([...earlier.baseTypes], [...later.baseTypes])) {
    throw invalidModification(
      'the version has other base types than its predecessor, or another major version of one; that needs a new major version',
    );
  }
}

/** An object model changes only to a type in all of its unique groups; in no group it keeps its type id (400). */
export function checkTypeChange(before: Grouped, after: Grouped): void {
  const leaves = [...before.groups.keys()].some((leader) => !after.groups.has(leader));
  const hasNoGroup = before.groups.size === 0 && before.typeId !== after.typeId;
  if (leaves || hasNoGroup) throw invalidModification('$.type is outside the unique group of the object model');
}
