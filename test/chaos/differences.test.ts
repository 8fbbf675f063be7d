import { expect, it } from 'vitest';
import { differences, rule } from './differences.ts';

it('every member that is another, too much or missing is told, or breaks its rule', () => {
  const short = rule('a short text', (value) => String(value).length < 3);
  const due = { same: [1], other: 2, missing: 3, fits: short, breaks: short };
  expect(differences('its', { same: [1], other: 1, more: 4, fits: 'ab', breaks: 'abc' }, due)).toEqual([
    'its other is 1 instead of 2',
    'its more is 4 instead of absent',
    'its breaks is "abc" instead of a short text',
    'its missing is absent instead of 3',
  ]);
});
