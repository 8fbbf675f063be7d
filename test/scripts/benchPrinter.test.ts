import { expect, it } from 'vitest';
import { absoluteLines, tableOf } from '../bench/printer.ts';
import type { Row } from '../bench/row.ts';
import { figure } from '../bench/statistics.ts';
import { sizingTable } from '../bench/workloads/partitions.ts';

const row = (measure: string, values: readonly number[], more: Partial<Row>): Row => ({
  measure,
  figure: figure(values),
  unit: '×',
  ...more,
});

it('a table says which medians miss their goals, and shows an earlier run beside them', () => {
  const workload = { name: 'update', about: '' };
  const rows = [
    row('few', [1, 3, 2], { goal: { atMost: 2 } }),
    row('too many', [2.1], { goal: { atMost: 2 } }),
    row('too few', [140], { goal: { atLeast: 150.5 }, unit: '/s' }),
    row('beside', [0.84, 0.8], { goal: { atLeast: 0.85, atMost: 1.15 } }),
    row('without a goal', [7], {}),
  ];
  const before = [{ workload, rows: [row('few', [4], {}), row('gone', [1], {})] }];
  expect(tableOf([{ workload, rows }], before).split('\n')).toEqual([
    '| workload | measure        | before | now                | goal      |        |',
    '|----------|----------------|--------|--------------------|-----------|--------|',
    '| update   | few            | 4.00 × | 2.00 × (1.00–3.00) | ≤ 2       |        |',
    '| update   | too many       |        | 2.10 ×             | ≤ 2       | missed |',
    '| update   | too few        |        | 140 /s             | ≥ 150.5   | missed |',
    '| update   | beside         |        | 0.82 × (0.80–0.84) | 0.85–1.15 | missed |',
    '| update   | without a goal |        | 7.00 ×             |           |        |',
  ]);
});

it('a line has the figures of a program, and what limited it', () => {
  const figures = [
    { what: 'CPU', figure: figure([165.6]), unit: 'µs' },
    { what: 'calls', figure: figure([5]), unit: '' },
  ] as const;
  expect(
    absoluteLines({ rows: [], absolute: [{ program: 'floor', figures, limitedBy: ['hub'] }], notes: ['so'] }),
  ).toEqual(['floor: CPU 166 µs, calls 5.00, limited by hub', 'so']);
});

it('the table for sizing has a line for 1, 4, 8 and 32 partitions, in round figures', () => {
  const of = (program: string, cpu: number, messages: number) => ({
    program,
    figures: [
      { what: 'CPU', figure: figure([cpu]), unit: 'µs' as const },
      { what: 'messages', figure: figure([messages]), unit: '/s' as const },
      { what: 'memory', figure: figure([201.4]), unit: 'MB' as const },
    ],
  });
  const absolute = ['1 partition', '4 partitions', '8 partitions', '32 partitions'].flatMap((size, index) => [
    of(`updates, ${size}`, 300.4 + index, 3_049 + 100 * index),
    of(`skips, ${size}`, 30, 20_460),
  ]);
  expect(sizingTable({ absolute }).split('\n').slice(2)).toEqual([
    '| 1 | 3,000 | 300 | 201 | 20,500 | 30 |',
    '| 4 | 3,100 | 301 | 201 | 20,500 | 30 |',
    '| 8 | 3,200 | 302 | 201 | 20,500 | 30 |',
    '| 32 | 3,300 | 303 | 201 | 20,500 | 30 |',
  ]);
});
