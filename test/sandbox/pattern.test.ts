import { expect, it } from 'vitest';
import { anyGuid, anyTimestamp, differences } from '../../sandbox/stories/pattern.ts';

const lists = { a: [1, { b: null }], c: 'x' };
it.each<[string, unknown, Parameters<typeof differences>[1], readonly string[]]>([
  ['accepts an equal value at any depth', lists, structuredClone(lists), []],
  ['reports path and values', { a: [1, { b: 2 }] }, { a: [1, { b: 3 }] }, ['a.1.b is 2 instead of 3']],
  ['distinguishes a number from its text', '2', 2, ['it is "2" instead of 2']],
  ['reports what is missing', {}, { missing: 1 }, ['missing is missing']],
  ['reports what is not expected', { surplus: 1 }, {}, ['surplus is 1, which is not expected']],
  ['treats an inherited name as missing', {}, { toString: 'x' }, ['toString is missing']],
  ['distinguishes arrays from objects', {}, [], ['it is {} instead of an array']],
  ['distinguishes null from objects', null, {}, ['it is null instead of an object']],
  ['reports an element too many', [1, 2], [1], ['1 is 2, which is not expected']],
  ['matches expressions', { at: '2026-01-02T03:04:05.678Z' }, { at: anyTimestamp }, []],
  ['matches them wholly', { id: 'B4F4A1A6' }, { id: anyGuid }, [expect.any(String)]],
  ['matches them against texts only', { id: 12 }, { id: /12/ }, [expect.any(String)]],
])('A pattern %s', (_, value, pattern, expected) => expect(differences(value, pattern)).toEqual(expected));
