import { linearAxis } from './axis.ts';
import { drawing, label } from './drawing.ts';
import { element, rounded } from './element.ts';
import { legendOf, wrapped } from './text.ts';

/** A value and, around it, what was measured at least and at most. */
export interface Bar {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Values beside each other, as data. */
export interface BarChart {
  readonly title: string;
  /** Of the values; stands below their axis. */
  readonly unit: string;
  /** What the bars of a row are, the first uppermost; at most as many as there are colours. */
  readonly series: readonly string[];
  /** One bar for each of the series; undefined where there is none. */
  readonly rows: readonly { readonly label: string; readonly bars: readonly (Bar | undefined)[] }[];
}

const width = 840;
const [left, right] = [320, width - 30];
const lineHeight = 15;
const barHeight = 12;
const gap = 12;

/** Draws the chart: horizontal bars with their ranges. The same data always give the same text. */
export function drawBarChart({ title, unit, series, rows }: BarChart): string {
  const legend = legendOf(series, right - left);
  const top = 44 + legend.rows * lineHeight + 8;
  const labels = rows.map(({ label }) => wrapped(label, left - 30));
  const heights = labels.map((lines) => gap + Math.max(lines.length * lineHeight, series.length * barHeight));
  const bottom = top + heights.reduce((sum, one) => sum + one, 0);
  const height = bottom + 40;
  const highest = Math.max(0, ...rows.flatMap(({ bars }) => bars.map((bar) => bar?.high ?? 0)));
  const { at, ticks, label: tickLabel } = linearAxis(highest, [left, right], 8);

  const grid = ticks.flatMap((tick) => [
    element('path', { class: 'grid', d: `M${rounded(at(tick))} ${top}V${bottom}` }),
    label(tickLabel(tick), at(tick), bottom + 16, 'middle'),
  ]);
  let y = top;
  const drawn = rows.flatMap(({ bars }, index) => {
    const rowTop = y + gap / 2;
    y += heights[index] ?? 0;
    return [
      ...(labels[index] ?? []).map((line, row) => label(line, left - 10, rowTop + 10 + row * lineHeight, 'end')),
      ...bars.flatMap((bar, which) => (bar === undefined ? [] : barOf(bar, which, rowTop + which * barHeight))),
    ];
  });
  const marks = legend.entries.map(({ x, row }, index) => {
    const baseline = 46 + row * lineHeight;
    const mark = element('rect', { class: `f${index}`, x: left + x, y: baseline - 9, width: 18, height: 9 });
    return mark + label(series[index] ?? '', left + x + 24, baseline, 'start');
  });

  function barOf({ value, low, high }: Bar, which: number, barTop: number): readonly string[] {
    const middle = barTop + (barHeight - 2) / 2;
    return [
      element('rect', { class: `f${which}`, x: left, y: barTop, width: at(value) - left, height: barHeight - 2 }),
      element('path', { class: 'axis', d: `M${rounded(at(low))} ${rounded(middle)}H${rounded(at(high))}` }),
    ];
  }

  const parts = [
    ...grid,
    ...drawn,
    element('path', { class: 'axis', d: `M${left} ${top}V${bottom}` }),
    ...marks,
    label(unit, right, bottom + 32, 'end', 'small'),
  ];
  return drawing({ title, titleAt: 20, width, height }, parts);
}
