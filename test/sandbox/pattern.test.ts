import { describe, expect, it } from 'vitest';
import { anyGuid, anyTimestamp, differences } from '../../sandbox/demonstration/pattern.ts';

describe('A pattern', () => {
  it('accepts an equal value at any depth', () => {
    expect(differences({ a: [1, { b: null }], c: 'x' }, { a: [1, { b: null }], c: 'x' })).toEqual([]);
  });

  it('reports the path and both values of a difference', () => {
    expect(differences({ a: [1, { b: 2 }] }, { a: [1, { b: 3 }] })).toEqual(['a.1.b is 2 instead of 3']);
  });

  it('distinguishes a number from its text', () => {
    expect(differences('2', 2)).toEqual(['it is "2" instead of 2']);
  });

  it('reports missing and unexpected members', () => {
    expect(differences({ surplus: 1 }, { missing: 1 })).toEqual([
      'missing is missing',
      'surplus is 1, which is not expected',
    ]);
  });

  it('treats an inherited name as missing', () => {
    expect(differences({}, { toString: 'x' })).toEqual(['toString is missing']);
  });

  it('distinguishes arrays from objects and null', () => {
    expect(differences({}, [])).toEqual(['it is {} instead of an array']);
    expect(differences(null, {})).toEqual(['it is null instead of an object']);
    expect(differences([1, 2], [1])).toEqual(['1 is 2, which is not expected']);
  });

  it('matches expressions against texts only', () => {
    expect(differences({ at: '2026-01-02T03:04:05.678Z' }, { at: anyTimestamp })).toEqual([]);
    expect(differences({ id: 'B4F4A1A6' }, { id: anyGuid })).toHaveLength(1);
    expect(differences({ id: 12 }, { id: /12/ })).toHaveLength(1);
  });
});
