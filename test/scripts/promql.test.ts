import { expect, it } from 'vitest';
import { evaluate } from '../support/promql.ts';
import { parseMetrics } from '../support/promText.ts';

// What stands in for Prometheus where the queries of the pages are asked.

const histogram = (a: string, b: string) =>
  [
    ['a', a],
    ['b', b],
  ].flatMap(([name, counts = '']) => {
    const bounds = ['1', '2.5', '+Inf'];
    return counts.split(' ').map((count, index) => `took_bucket{of="${name}",le="${bounds[index]}"} ${count}`);
  });
const before = parseMetrics(histogram('90 90 90', '0 0 0').join('\n'));
const now = parseMetrics(
  [
    ...histogram('90 100 100', '20 20 20'),
    'age{of="a",at="1"} 3',
    'age{of="a",at="2"} 4',
    'age{of="b",at="1"} 0',
    'info{v="1.0+abc"} 1',
  ].join('\n'),
);

it.each<[string, Record<string, number>]>([
  ['age', { 'a 1': 3, 'a 2': 4, 'b 1': 0 }],
  ['age{at="1"}', { 'a 1': 3, 'b 1': 0 }],
  ['max by (of) (age)', { a: 4, b: 0 }],
  ['min by (of) (age{of="a"})', { a: 3 }],
  ['sum by (at) (age)', { '1': 3, '2': 4 }],
  ['count by (at, of) (age)', { '1 a': 1, '2 a': 1, '1 b': 1 }],
  ['max by (of) (absent)', {}],
  [
    'sum by (v, of) (rate(took_bucket[5m]) * on (job, instance) group_left (v) info)',
    { '1.0+abc a': 20, '1.0+abc b': 60 },
  ],
  ['histogram_quantile(0.5, sum by (of, le) (rate(took_bucket[5m])))', { a: 1.75, b: 0.5 }],
])('%s', (query, expected) => {
  expect(Object.fromEntries(evaluate(query, before, now))).toEqual(expected);
});

it('a quantile is absent where nothing was recorded', () => {
  expect(evaluate('histogram_quantile(0.5, sum by (of, le) (rate(took_bucket[5m])))', now, now)).toEqual(new Map());
});

it('a query of another form throws', () => {
  expect(() => evaluate('rate(age[5m]) > 0', before, now)).toThrow('PromQL of another form: rate(age[5m]) > 0');
});
