import { describe, expect, it } from 'vitest';
import { costTable, sizingTable } from '../bench/absoluteTables.ts';
import { absoluteLines, jsonLines, type Measured, tableOf } from '../bench/printer.ts';
import type { Absolute, Row } from '../bench/row.ts';
import { figure, pairedRatio } from '../bench/statistics.ts';
import { versus, versusTable } from '../bench/versus.ts';
import { createRandom } from '../chaos/random.ts';

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

it('the table of costs has the service beside the least, and nothing where nothing was measured', () => {
  const now = [
    workload('update', [of('service', 298, 1), of('floor', 166, 1)]),
    workload('skip', [of('service', 28, 1)]),
  ];
  expect(costTable(now).split('\n').slice(2, 5)).toEqual([
    '| telemetry of 1 KiB that is not ours | 28 |  |',
    '| `model.update` with its acknowledgement | 298 | 166 |',
    '| the same, with backends that take 20 ms |  |  |',
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

describe('the interval of a ratio', () => {
  it('is Student’s, of the logarithms', () => {
    const above = [-2, -1, 0, 1, 2].map((tenths) => 2 * Math.exp(tenths / 10));
    const { ratio, low, high } = pairedRatio(above, [1, 1, 1, 1, 1]);
    const half = (2.7764 * Math.sqrt(0.025)) / Math.sqrt(5); // 2.7764: tables, 4 degrees of freedom
    expect([ratio, low, high]).toEqual(
      [2, 2 * Math.exp(-half), 2 * Math.exp(half)].map((one) => expect.closeTo(one, 3)),
    );
  });

  it.each([5, 10, 20])('of %i rounds has the true ratio in 95 of 100 runs', (rounds) => {
    const { next } = createRandom(1);
    const noise = () => Math.exp(0.2 * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()));
    const values = (factor: number) => Array.from({ length: rounds }, () => factor * noise());
    const runs = Array.from({ length: 1_000 }, () => pairedRatio(values(1.1), values(1)));
    const right = runs.filter(({ low, high }) => low <= 1.1 && 1.1 <= high).length;
    expect(Math.abs(right / runs.length - 0.95)).toBeLessThan(0.02);
  });

  it.each([
    ['too few rounds', [1, 2, 3, 4], [1, 2, 3, 4]],
    ['nothing in a round', [1, 1, 0, 1, 1], [1, 1, 1, 1, 1]],
  ])('is none: %s', (_, above, below) => {
    expect(pairedRatio(above, below).low).toBeNaN();
  });
});

describe('two builds', () => {
  const context = { quick: false, rounds: 6, progress() {} };
  const opening = (events: string[]) => async (build: string) => ({
    async measure(nth: number) {
      events.push(`${build} ${nth}`);
      return { 'CPU, µs': (build === 'mine' ? 100 : 200) + nth, 'memory, MB': 50, unused: 0 };
    },
    close: async () => void events.push(`${build} closed`),
  });

  it('are started anew in each round and measured in turn, each first in every other one', async () => {
    const events: string[] = [];
    const workload = { name: 'update', versus: () => ({ '': opening(events) }) };
    const compared = await versus(workload, { here: 'mine', there: 'other' }, context);
    const [first, second] = [
      ['mine 0', 'other 0', 'mine 1', 'other 1', 'other 2', 'mine 2', 'mine closed', 'other closed'],
      ['other 0', 'mine 0', 'other 1', 'mine 1', 'mine 2', 'other 2', 'other closed', 'mine closed'],
    ];
    expect(events).toEqual([first, second, first, second, first, second].flat());
    expect(versusTable(compared).split('\n')).toEqual([
      '| workload | measure    | here  | there | here / there | 95 %        |      |',
      '|----------|------------|-------|-------|--------------|-------------|------|',
      '| update   | CPU, µs    | 102   | 202   | 0.504        | 0.504–0.504 | less |',
      '| update   | memory, MB | 50.00 | 50.00 | 1.000        | 1.000–1.000 |      |',
      '| update   | unused     | 0.00  | 0.00  |              |             |      |',
    ]);
  });

  it('are measured once in a round when each measurement starts them', async () => {
    const events: string[] = [];
    const open = async (build: string) => ({ ...(await opening(events)(build)), isNewEachTime: true as const });
    await versus({ name: 'start', versus: () => ({ '': open }) }, { here: 'mine', there: 'other' }, context);
    expect(events.slice(0, 6)).toEqual(['mine 1', 'other 1', 'mine closed', 'other closed', 'other 1', 'mine 1']);
  });

  it('end when one of them does its work wrong', async () => {
    const events: string[] = [];
    const open = async (build: string) => ({
      ...(await opening(events)(build)),
      check: async () => {
        if (build === 'other') throw new Error('an update is missing');
      },
    });
    const workload = { name: 'update', versus: () => ({ '': open }) };
    await expect(versus(workload, { here: 'mine', there: 'other' }, context)).rejects.toThrow('an update is missing');
    expect(events.slice(-2)).toEqual(['mine closed', 'other closed']);
  });
});
