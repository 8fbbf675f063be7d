import { expect, it } from 'vitest';
import { costTable, sizingTable } from '../bench/absoluteTables.ts';
import { absoluteLines, jsonLines, type Measured, tableOf } from '../bench/printer.ts';
import type { Absolute, Row } from '../bench/row.ts';
import { figure } from '../bench/statistics.ts';

const row = (measure: string, values: readonly number[], more: Partial<Row>): Row => ({
  measure,
  figure: figure(values),
  unit: '×',
  ...more,
});

const update = { name: 'update', about: '' };

it('a table says which medians miss their goals, and shows an earlier run beside them', () => {
  const rows = [
    row('few', [1, 3, 2], { goal: { atMost: 2 } }),
    row('too many', [2.1], { goal: { atMost: 2 } }),
    row('too few', [140], { goal: { atLeast: 150.5 }, unit: '/s' }),
    row('beside', [0.84, 0.8], { goal: { atLeast: 0.85, atMost: 1.15 } }),
    row('without a goal', [7], {}),
  ];
  const before = [{ workload: update, rows: [row('few', [4], {}), row('gone', [1], {})] }];
  expect(tableOf([{ workload: update, rows }], before).split('\n')).toEqual([
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

const of = (program: string, cpu: number, messages: number) => ({
  program,
  figures: [
    { what: 'CPU', figure: figure([cpu]), unit: 'µs' as const },
    { what: 'messages', figure: figure([messages]), unit: '/s' as const },
    { what: 'memory', figure: figure([201.4]), unit: 'MB' as const },
  ],
});
const workload = (name: string, absolute: readonly Absolute[]): Measured => ({
  workload: { name, about: '' },
  rows: [],
  absolute,
  notes: [],
});

it('the table for sizing has a line for 1, 4, 8 and 32 partitions, in round figures', () => {
  const absolute = ['1 partition', '4 partitions', '8 partitions', '32 partitions'].flatMap((size, index) => [
    of(`updates, ${size}`, 300.4 + index, 3_049 + 100 * index),
    of(`skips, ${size}`, 30, 20_457),
  ]);
  expect(
    sizingTable([workload('partitions', absolute)])
      .split('\n')
      .slice(2),
  ).toEqual([
    '| 1 | 3,050 | 300 | 201 | 20,460 | 30 |',
    '| 4 | 3,150 | 301 | 201 | 20,460 | 30 |',
    '| 8 | 3,250 | 302 | 201 | 20,460 | 30 |',
    '| 32 | 3,350 | 303 | 201 | 20,460 | 30 |',
  ]);
});

it('the table of costs has the service before and now beside the least, and nothing where nothing was measured', () => {
  const before = [workload('update', [of('service', 620, 1)])];
  const now = [
    workload('update', [of('service', 298, 1), of('floor', 166, 1)]),
    workload('skip', [of('service', 28, 1)]),
  ];
  expect(costTable(now, before).split('\n').slice(2, 5)).toEqual([
    '| telemetry of 1 KiB that is not ours |  | 28 |  |',
    '| `model.update` with its acknowledgement | 620 | 298 | 166 |',
    '| the same, with backends that take 20 ms |  |  |  |',
  ]);
});

it('a file of figures is JSON with a line for each', () => {
  const run = { rounds: 2, measured: [{ workload: update, rows: [row('{CPU}', [1, 2], {})], notes: [] }] };
  const text = jsonLines(run);
  expect(JSON.parse(text)).toEqual(run);
  expect(text.split('\n').map((line) => line.trim())).toContain(
    '{ "measure": "{CPU}", "figure": { "median": 1.5, "low": 1, "high": 2, "values": [ 1, 2 ] }, "unit": "×" }',
  );
});
