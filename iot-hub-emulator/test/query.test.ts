import { describe, expect, test } from 'vitest';
import { createRegistry } from '../src/identity/registry.ts';
import { evaluate } from '../src/query/evaluate.ts';
import { pageOf } from '../src/query/page.ts';
import { parseQuery } from '../src/query/parse.ts';

const argumentError = (message: string) =>
  expect.objectContaining({ condition: 'com.microsoft:argument-error', message: expect.stringContaining(message) });

describe('a query', () => {
  test.each([
    ['SELECT * FROM devices', ['d1', 'd2']],
    ['select*from DEVICES ;', ['d1', 'd2']],
    [' Select\n* From devices.modules;', ['d2/m']],
  ])('%j selects %j', (query, ids) => {
    const registry = createRegistry(() => 0);
    for (const id of ['d1', 'd2']) registry.create(id);
    registry.create('d2', { moduleId: 'm' });
    expect(evaluate(parseQuery(query), registry).map(({ clientId }) => clientId)).toEqual(ids);
  });
  test.each([
    ['', 'The query ends at character 1, where SELECT is expected.'],
    ['DELETE FROM devices', 'The query has "DELETE" at character 1, where SELECT is expected.'],
    ['SELECT a FROM b', 'The query has "a" at character 8, where * is expected.'],
    ['SELECT * FROM jobs', 'The query has "jobs" at character 15, where DEVICES is expected.'],
    ['SELECT * FROM devices.', 'The query ends at character 23, where MODULES is expected.'],
    ["SELECT * FROM devices WHERE tags.a = '1'", 'has "WHERE" at character 23, where the end is expected.'],
    ['SELECT * FROM devices; DROP', 'has "DROP" at character 24, where the end is expected.'],
  ])('%j is refused by the first text that does not belong there', (query, message) => {
    expect(() => parseQuery(query)).toThrow(argumentError(message));
  });
  test('is quoted only in part when it is refused', () => {
    const query = `SELECT * FROM ${'x'.repeat(1_000_000)}`;
    expect(() => parseQuery(query)).toThrow(argumentError(`has "${'x'.repeat(40)}" at character 15`));
  });
});

describe('a page', () => {
  const all = Array.from({ length: 2500 }, (_, i) => i);

  test('has the requested number of items, a hundred by default, and a thousand at most', () => {
    expect(pageOf(all, undefined, '2')).toEqual({ items: [0, 1], continuation: '2' });
    expect(pageOf(all, undefined, undefined).items).toHaveLength(100);
    expect(pageOf(all, undefined, '100000').items).toHaveLength(1000);
  });
  test('begins where the previous one ended, and the last has no continuation', () => {
    expect(pageOf(all, '100', undefined)).toMatchObject({ items: all.slice(100, 200), continuation: '200' });
    expect(pageOf(all, '2450', undefined)).toEqual({ items: all.slice(2450), continuation: undefined });
    expect(pageOf(all, '9999', undefined)).toEqual({ items: [], continuation: undefined });
  });
  test.each(['-1', '1.5', '1e3', 'x', '9'.repeat(30)])('is refused with the continuation %s', (continuation) => {
    expect(() => pageOf(all, continuation, undefined)).toThrow(argumentError('The continuation of a query'));
  });
  test.each(['-1', '0', '1.5', 'x', '9'.repeat(30)])('is refused with a size of %s', (count) => {
    expect(() => pageOf(all, undefined, count)).toThrow(argumentError('The number of items of a query'));
  });
});
