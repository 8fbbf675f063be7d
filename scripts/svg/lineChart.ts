import { type Axis, linearAxis, logarithmicAxis, timeAxis } from './axis.ts';
import { drawing, label } from './drawing.ts';
import { element, rounded } from './element.ts';
import { legendOf, wrapped } from './text.ts';

/** A value at a time; undefined where there is none: the line has a gap. */
export type Point = readonly [seconds: number, value: number | undefined];

export interface Line {
  readonly label: string;
  readonly points: readonly Point[];
}

/** A time in seconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Values over time, as data. */
export interface LineChart {
  readonly title: string;
  /** Of the values; stands above their axis. */
  readonly unit: string;
  /** What the seconds count. */
  readonly timeTitle: string;
  readonly end: number;
  /** At most as many as there are colours. */
  readonly lines: readonly Line[];
  /** Values over several powers of ten. */
  readonly isLogarithmic?: boolean;
  /** Shaded, with a label in the shade. */
  readonly shades?: readonly (Span & { readonly label: string })[];
  /** Rows below the plot, with a label and a bar for each span. */
  readonly strips?: readonly { readonly label: string; readonly spans: readonly Span[] }[];
}

const width = 840;
const plotHeight = 230;
const [left, right] = [64, width - 20];
const lineHeight = 15;
const stripHeight = 30;

/** Draws the chart. The same data always give the same text. It is readable on light and on dark pages. */
export function drawLineChart(chart: LineChart): string {
  const { title, unit, timeTitle, end, lines, shades = [], strips = [] } = chart;
  const legend = legendOf(
    lines.map(({ label }) => label),
    right - left,
  );
  const shadeLines = shades.map(({ from, to, label }) => wrapped(label, ((to - from) / end) * (right - left)));
  const top = 44 + legend.rows * lineHeight + 18;
  const bottom = top + plotHeight;
  const height = bottom + strips.length * stripHeight + 46;
  const times = timeAxis(end, [left, right]);
  const values = valueAxis(chart, [bottom, top + lineHeight * Math.max(0, ...shadeLines.map((one) => one.length))]);

  const shaded = shades.flatMap(({ from, to }, index) => [
    element('rect', {
      ...{ class: 'shade', x: times.at(from), y: top },
      ...{ width: times.at(to) - times.at(from), height: bottom - top },
    }),
    ...(shadeLines[index] ?? []).map((text, row) =>
      label(text, (times.at(from) + times.at(to)) / 2, top + 12 + row * (lineHeight - 2), 'middle', 'small'),
    ),
  ]);
  const grid = values.ticks.flatMap((tick) => [
    element('path', { class: 'grid', d: `M${left} ${rounded(values.at(tick))}H${right}` }),
    label(values.label(tick), left - 8, values.at(tick) + 4, 'end'),
  ]);
  const time = times.ticks.flatMap((tick) => [
    element('path', { class: 'axis', d: `M${rounded(times.at(tick))} ${bottom}v5` }),
    label(times.label(tick), times.at(tick), height - 24, 'middle'),
  ]);
  const rows = strips.flatMap((strip, index) => {
    const y = bottom + 24 + index * stripHeight;
    const bars = strip.spans.map(({ from, to }) => {
      const x = times.at(from);
      return element('rect', { class: 'bar', x, y: y + 4, width: Math.max(2, times.at(to) - x), height: 8 });
    });
    return [label(strip.label, left, y, 'start', 'small'), ...bars];
  });
  const marks = legend.entries.map(({ x, row }, index) => {
    const y = 46 + row * lineHeight;
    const mark = element('path', { class: `line c${index}`, d: `M${rounded(left + x)} ${y - 4}h18` });
    return mark + label(lines[index]?.label ?? '', left + x + 24, y, 'start');
  });
  const drawn = lines.map(({ points }, index) =>
    element('path', { class: `line c${index}`, d: pathOf(points, times, values) }),
  );

  const parts = [
    ...[...shaded, ...grid],
    label(unit, 10, top - 8, 'start', 'small'),
    element('path', { class: 'axis', d: `M${left} ${top}V${bottom}H${right}` }),
    ...[...time, ...rows, ...marks, ...drawn],
    label(timeTitle, right, height - 8, 'end', 'small'),
  ];
  return drawing({ title, titleAt: left, width, height }, parts);
}

function valueAxis({ lines, isLogarithmic = false }: LineChart, pixels: readonly [number, number]): Axis {
  const known = lines.flatMap(({ points }) => points.flatMap(([, value]) => (value === undefined ? [] : [value])));
  const max = Math.max(0, ...known);
  if (!isLogarithmic) return linearAxis(max, pixels);
  const positive = known.filter((value) => value > 0);
  return logarithmicAxis(positive.length === 0 ? [0.1, 1] : [Math.min(...positive), max], pixels);
}

function pathOf(points: readonly Point[], times: Axis, values: Axis): string {
  let isDown = false;
  return points
    .map(([seconds, value]) => {
      if (value === undefined) {
        isDown = false;
        return '';
      }
      const command = isDown ? 'L' : 'M';
      isDown = true;
      return `${command}${rounded(times.at(seconds))} ${rounded(values.at(value))}`;
    })
    .join('');
}
