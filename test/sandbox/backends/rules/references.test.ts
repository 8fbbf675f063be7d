import { expect, it } from 'vitest';
import { checkDeclared, referenceKey } from '../../../../sandbox/backends/rules/references.ts';
import { outcome } from './outcome.ts';

const link = (name: string, objectId: string, model = 'svc.device') => ({ name, to: { objectId, model } });

it.each([
  ['the same name and target', link('feeds', 'a1'), true],
  ['the target in other letters', link('feeds', 'A1'), true],
  ['another name {S12.3}', link('contains', 'a1'), false],
  ['another target', link('feeds', 'b2'), false],
  ['another model of the target', link('feeds', 'a1', 'svc.other'), false],
])('a reference is identified by name and target: %s', (_, other, isSame) =>
  expect(referenceKey(other) === referenceKey(link('feeds', 'a1'))).toBe(isSame),
);

it.each([
  ['feeds', false, 'allowed'],
  ['contains', false, "400 $[0].name is not a reference of the object model's type"],
  ['contains', true, 'allowed'],
  ['feeds', true, "400 $[0].name is not a reference of the parent's type"],
])(
  'a reference is declared by the type of its source, or of the parent: %s, isParent %s',
  (name, isParent, expected) => {
    const types = { source: { references: new Set(['feeds']) }, target: { references: new Set(['contains']) } };
    expect(outcome(() => checkDeclared(name, isParent, types, '$[0]'))).toBe(expected);
  },
);
