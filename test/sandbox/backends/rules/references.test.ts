import { expect, it } from 'vitest';
import { referenceKey } from '../../../../sandbox/backends/rules/references.ts';

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
