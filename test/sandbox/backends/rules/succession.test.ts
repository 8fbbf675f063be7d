import { describe, expect, it } from 'vitest';
import { checkSuccession, checkTypeChange } from '../../../../sandbox/backends/rules/succession.ts';
import { outcome } from './outcome.ts';

type Groups = Readonly<Record<string, readonly string[]>>;

/** `leaf@1.0.0` with the types it derives from (`plant@1`) and its unique groups by their leaders. */
function type(ref: string, baseTypes: readonly string[] = [], groups: Groups = {}) {
  const [typeId = '', version = ''] = ref.split('@');
  const numbers = version.split('.').map(Number);
  return { typeId, version: numbers, baseTypes: new Set(baseTypes), groups: new Map(Object.entries(groups)) };
}

const name = { plant: ['name'] };
const code = { site: ['code'] };
const both = { ...name, ...code };
const plant = type('plant@1.0.0', [], name);
const leaf = type('leaf@1.0.0', ['plant@1'], name);
const pair = type('pair@1.0.0', [], { pair: ['a', 'b'] });
const shed = type('shed@1.0.0');

describe('a version of a type', () => {
  it.each([
    ['the leader drops a unique property {S5.11}', plant, type('plant@2.0.0', [], { plant: ['town'] })],
    ['the leader adds a unique property', plant, type('plant@2.0.0', [], { plant: ['name', 'town'] })],
    ['the leader moves to no group', plant, type('plant@2.0.0')],
    ['a subtype moves to no group {S5.10}', leaf, type('leaf@2.0.0')],
    ['a subtype moves to another group {S5.9}', leaf, type('leaf@2.0.0', ['site@1'], code)],
    ['a subtype takes the unique property over as its own {S5.11}', leaf, type('leaf@2.0.0', [], { leaf: ['name'] })],
    ['a type without group begins to declare one', shed, type('shed@2.0.0', [], { shed: ['code'] })],
    ['base types change without a new major version {S5.9}', leaf, type('leaf@1.1.0', ['plant@1', 'shed@1'], name)],
    ['a base type’s major version changes in a minor version {S5.9}', leaf, type('leaf@1.1.0', ['plant@2'], name)],
    ['another major version of a base type comes in a patch', leaf, type('leaf@1.0.1', ['plant@1', 'plant@2'], name)],
  ])('is refused when %s', (_, earlier, later) =>
    expect(outcome(() => checkSuccession(earlier, later))).toMatch(/^400 the version /),
  );
  it.each([
    ['the leader stays the leader', plant, type('plant@1.1.0', [], name)],
    ['a subtype takes another version of its base type', leaf, type('leaf@1.1.0', ['plant@1'], name)],
    ['a new major version takes a new major version of its base type', leaf, type('leaf@2.0.0', ['plant@2'], name)],
    ['a new major version has a further base type {S5.9}', leaf, type('leaf@2.0.0', ['plant@2', 'shed@1'], name)],
    ['a base type brings a further group {S5.11}', leaf, type('leaf@2.0.0', ['plant@1', 'site@1'], both)],
    ['a new base type brings the first group', shed, type('shed@2.0.0', ['site@1'], code)],
    ['the unique properties come in another order', pair, type('pair@2.0.0', [], { pair: ['b', 'a'] })],
  ])('is allowed when %s', (_, earlier, later) =>
    expect(outcome(() => checkSuccession(earlier, later))).toBe('allowed'),
  );
});

describe('the type of an object model', () => {
  const outside = '400 $.type is outside the unique group of the object model';
  it.each([
    ['another version of its type', plant, type('plant@2.0.0', [], name), 'allowed'],
    ['a subtype in the same unique group', plant, leaf, 'allowed'],
    ['the base type that leads the group', leaf, plant, 'allowed'],
    ['a type of another unique group', plant, type('site@1.0.0', [], code), outside],
    ['a type without unique group {S5.10}', plant, shed, outside],
    ['a type of one of two groups', type('twin@1.0.0', ['plant@1', 'site@1'], both), leaf, outside],
    ['another type when it is in no group', shed, type('barn@1.0.0'), outside],
    ['another version of its type when it is in no group', shed, type('shed@2.0.0', ['site@1'], code), 'allowed'],
  ])('becomes %s', (_, before, after, expected) =>
    expect(outcome(() => checkTypeChange(before, after))).toBe(expected),
  );
});
