import { ask } from '../../test/deploy/promtool.ts';
import type { Dashboard, Panel } from '../dashboards/panel.ts';
import { readRecording } from '../recording/recordings.ts';
import { drawing } from '../svg/drawing.ts';
import { drawLineChart, type Line } from '../svg/lineChart.ts';
import { mostLines } from '../svg/style.ts';

/** What the panels of the dashboards show of a recorded good time, as Prometheus' own tool answers their queries. */

export const dashboardPictureFile = ({ uid }: Dashboard): string => `docs/dashboards/${uid}.svg`;

const recordingOf = ({ uid }: Dashboard): string => (uid.endsWith('methods') ? 'good-front-door' : 'good');

const columns = 2;
const panelWidth = 560;
const margin = 40;
/** Between two questions; scrapes are a minute apart. */
const everyMinutes = 2;

type Labels = Readonly<Record<string, string>>;
type Series = ReadonlyMap<string, { readonly labels: Labels; readonly values: ReadonlyMap<number, number> }>;

/** The whole picture, an SVG file. */
export async function pictureOf(dashboard: Dashboard): Promise<string> {
  const recording = recordingOf(dashboard);
  const { scrapes } = readRecording(recording);
  const minutes = Array.from({ length: Math.floor(scrapes / everyMinutes) }, (_, index) => index * everyMinutes);
  const expressions = dashboard.panels.flatMap(({ queries }) => queries.map(([, expression]) => expression));
  const answers = await ask(recording, [...new Set(expressions)], minutes);
  const seriesOf = (expression: string): Series => {
    const found = new Map<string, { labels: Labels; values: Map<number, number> }>();
    for (const { minute, samples } of answers.filter((one) => one.expression === expression)) {
      for (const [, labels = '', value = ''] of samples.matchAll(/\{([^}]*)\} (\S+?)(?=,? |$)/g)) {
        const one = found.get(labels) ?? { labels: labelsIn(labels), values: new Map() };
        found.set(labels, one);
        if (Number.isFinite(Number(value))) one.values.set(minute, Number(value)); // a quantile of nothing is none
      }
    }
    return found;
  };
  const panels = dashboard.panels.map((panel) => drawPanel(panel, seriesOf, minutes));
  return sheetOf(dashboard, panels);
}

function drawPanel(
  { title, unit, queries }: Panel,
  seriesOf: (expression: string) => Series,
  minutes: readonly number[],
) {
  const lines = queries.flatMap(([legend, expression]) =>
    [...seriesOf(expression).values()].map(
      ({ labels, values }): Line => ({
        label: legend.replace(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? ''),
        points: minutes.map((minute) => [minute, values.get(minute)]),
      }),
    ),
  );
  const shown = lines.toSorted((one, other) => (one.label < other.label ? -1 : 1)).slice(0, mostLines);
  return drawLineChart({ title, unit: unitNames[unit], timeTitle: 'minutes', end: minutes.at(-1) ?? 0, lines: shown });
}

const unitNames: Readonly<Record<Panel['unit'], string>> = {
  s: 'seconds',
  short: '',
  bytes: 'bytes',
  reqps: 'a second',
  percentunit: 'share',
};

const labelsIn = (text: string): Labels =>
  Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));

/** Of a chart that is as wide as a panel. */
function heightOf(svg: string): number {
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
  return Math.round((panelWidth * Number(height)) / Number(width));
}

/** The panels beside and below each other. */
function sheetOf({ title }: Dashboard, panels: readonly string[]): string {
  const parts: string[] = [];
  let y = margin;
  for (let first = 0; first < panels.length; first += columns) {
    const row = panels.slice(first, first + columns);
    const heights = row.map(heightOf);
    for (const [index, svg] of row.entries()) {
      const place = `x="${index * panelWidth}" y="${y}" width="${panelWidth}" height="${heights[index]}"`;
      parts.push(
        svg
          .trim()
          .replace(/<style>.*<\/style>\n/, '')
          .replace('<svg ', `<svg ${place} `),
      );
    }
    y += Math.max(...heights);
  }
  return drawing({ title, titleAt: 20, width: columns * panelWidth, height: Math.ceil(y) }, parts);
}
