import { describe, expect, it } from 'vitest';
import { linearAxis, logarithmicAxis, niceStep, timeAxis } from '../../scripts/svg/axis.ts';
import { drawLineChart, type LineChart } from '../../scripts/svg/lineChart.ts';
import { mostLines } from '../../scripts/svg/style.ts';
import { legendOf, wrapped } from '../../scripts/svg/text.ts';

describe('an axis', () => {
  it.each([
    [1, 5, 0.2],
    [7, 5, 2],
    [10, 5, 2],
    [10.1, 5, 5],
    [0.034, 5, 0.01],
    [6_000, 5, 2_000],
  ])('over %d with at most %i steps has steps of %d', (range, steps, step) => {
    expect(niceStep(range, steps)).toBeCloseTo(step, 9);
  });

  it('begins at 0, ends at a tick, and has uniform labels', () => {
    const { at, ticks, label } = linearAxis(2_300, [200, 0]);
    expect(ticks.map(label)).toEqual(['0', '500', '1,000', '1,500', '2,000', '2,500']);
    expect(ticks.map(at)).toEqual([200, 160, 120, 80, 40, 0]);
    const small = linearAxis(0.3, [0, 1]);
    expect(small.ticks.map(small.label)).toEqual(['0.0', '0.1', '0.2', '0.3']);
    expect(linearAxis(0, [0, 1]).ticks).toEqual([0, 0.2, 0.4, 0.6000000000000001, 0.8, 1]);
  });

  it('of powers of ten has one tick for each, with smaller values at its end', () => {
    const { at, ticks, label } = logarithmicAxis([0.004, 20], [500, 0]);
    expect(ticks.map(label)).toEqual(['0.001', '0.01', '0.1', '1', '10', '100']);
    expect(ticks.map((tick) => Math.round(at(tick)))).toEqual([500, 400, 300, 200, 100, 0]);
    expect(at(0)).toBe(500);
    expect(logarithmicAxis([1, 1], [0, 1]).ticks).toEqual([1, 10]);
  });

  it('of time has ticks at usual intervals', () => {
    expect(timeAxis(120, [0, 760]).ticks).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120]);
    expect(timeAxis(600, [0, 760]).ticks).toEqual([0, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600]);
  });
});

describe('texts', () => {
  it('are wrapped between words', () => {
    expect(wrapped('information model slow', 90)).toEqual(['information', 'model slow']);
    expect(wrapped('incomprehensibilities', 10)).toEqual(['incomprehensibilities']);
  });

  it('of the legend are placed in rows', () => {
    const { rows, entries } = legendOf(['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)], 600);
    expect(rows).toBe(2);
    expect(entries.map(({ row }) => row)).toEqual([0, 0, 1]);
    expect(entries[2]?.x).toBe(0);
    expect(entries[1]?.x).toBeGreaterThan(24 + 40 * 6);
  });
});

const chart: LineChart = {
  title: 'Rates <of> "both" & more',
  unit: 'messages/s',
  timeTitle: 'seconds',
  end: 100,
  lines: [
    { label: 'ok', points: [0, 25, 50, 75, 100].map((at) => [at, at === 50 ? undefined : at / 10]) },
    {
      label: 'refused',
      points: [
        [0, 10],
        [100, 0],
      ],
    },
  ],
  shades: [{ label: 'trouble', from: 20, to: 40 }],
  strips: [{ label: 'circuit open', spans: [{ from: 50, to: 60 }] }],
};

/** The attributes of the elements with this name and class. */
function elements(svg: string, name: string, kind: string): Record<string, string>[] {
  return [...svg.matchAll(new RegExp(`<${name}((?: [\\w-]+="[^"]*")*)/?>`, 'g'))]
    .map(([, written = '']) =>
      Object.fromEntries([...written.matchAll(/ ([\w-]+)="([^"]*)"/g)].map(([, k, v]) => [k, v])),
    )
    .filter((one) => one['class'] === kind);
}

describe('a chart', () => {
  const svg = drawLineChart(chart);

  it('is the same text for the same data', () => {
    expect(drawLineChart(structuredClone(chart))).toBe(svg);
  });

  it('escapes its texts', () => {
    expect(svg).toContain('<title>Rates &#60;of&#62; &#34;both&#34; &#38; more</title>');
    for (const text of ['messages/s', 'seconds', 'ok', 'refused', 'trouble', 'circuit open']) {
      expect(svg).toContain(`>${text}</text>`);
    }
    const open = svg.match(/<[a-z]+(?: [\w-]+="[^"<]*")*>/g) ?? [];
    const closed = svg.match(/<\/[a-z]+>/g) ?? [];
    expect(open.length).toBe(closed.length);
  });

  it('draws the values at their axis positions, with a gap for missing ones', () => {
    const [{ d = '' } = {}] = elements(svg, 'path', 'line c0').filter((one) => !one['d']?.includes('h18'));
    const moves = [...d.matchAll(/([ML])([\d.]+) ([\d.]+)/g)].map(([, command, x, y]) => [
      command,
      Number(x),
      Number(y),
    ]);
    expect(moves.map(([command]) => command)).toEqual(['M', 'L', 'M', 'L']);
    expect(moves.map(([, x]) => x)).toEqual([64, 253, 631, 820]);
    const [zero = 0, quarter = 0, , full = 0] = moves.map(([, , y]) => Number(y));
    expect((zero - quarter) / (zero - full)).toBeCloseTo(0.25, 2);
    const ticks = elements(svg, 'path', 'grid').map((one) => Number(one['d']?.match(/M64 ([\d.]+)H/)?.[1]));
    expect([ticks[0], ticks.at(-1)]).toEqual([zero, full]);
  });

  it('shades the times of trouble, with a bar below', () => {
    expect(elements(svg, 'rect', 'shade')).toMatchObject([{ x: '215.2', width: '151.2' }]);
    expect(elements(svg, 'rect', 'bar')).toMatchObject([{ x: '442', width: '75.6' }]);
  });

  it('is readable on light and on dark pages', () => {
    expect(svg).toContain('.paper{fill:#ffffff}');
    expect(svg).toMatch(/@media \(prefers-color-scheme:dark\)\{\.paper\{fill:#0d1117\}/);
    for (let index = 0; index < mostLines; index += 1) {
      expect(svg.match(new RegExp(`\\.c${index}\\{stroke:#\\w{6}`, 'g'))).toHaveLength(2);
    }
  });

  it('has its axes without values', () => {
    const empty = drawLineChart({ ...chart, lines: [{ label: 'ok', points: [] }], shades: [], strips: [] });
    expect(empty).not.toMatch(/NaN|Infinity|undefined/);
  });
});
