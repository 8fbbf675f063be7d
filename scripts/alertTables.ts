import { readFileSync, writeFileSync } from 'node:fs';
import type { Alert } from './alerts/alert.ts';
import { edgeAlerts, edgeUnalerted } from './alerts/edge.ts';
import { frontDoorAlerts } from './alerts/frontDoor.ts';
import { serviceAlerts, serviceUnalerted } from './alerts/service.ts';
import { prometheusNames } from './metricsPage.ts';
import { withTexts } from './writtenPart.ts';

/**
 * The tables of alerts in four pages, from the declarations in `scripts/alerts`. `npm run docs` rewrites them; a test fails when
 * they are behind.
 */

/** The programs whose alerts the pages have. */
export const alerts = { service: serviceAlerts, 'front door': frontDoorAlerts, 'edge proxy': edgeAlerts } as const;
type Program = keyof typeof alerts;

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;
const table = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [headings, headings.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function lineOf({ events = [], level, until, probe }: Alert): string {
  const named = [...events.map(code), ...(probe === undefined ? [] : [`${code(probe)} is 503`])].join(', ');
  const ofLevel = level === undefined ? '' : ` at level ${code(level)}`;
  return `${named}${ofLevel}${until === undefined ? '' : `, and not ${code(until)}`}`;
}

const metricOf = ({ metric }: Alert): string => (metric === undefined ? '' : code(metric));

/** Every alert of a program, by the event of its log. */
const ofProgram = (program: Program): string =>
  table(
    ['event', 'metric', 'for', 'level', 'alert', 'what it means, and what to do'],
    alerts[program].map((alert: Alert) => [
      ...[lineOf(alert), metricOf(alert), alert.for ?? '', alert.severity, code(alert.id)],
      `${alert.means} ${alert.todo}`,
    ]),
  );

/** Metrics with the alerts that ask for them. */
function onMetrics(): string {
  const all = Object.values<readonly Alert[]>(alerts).flat();
  const rows = prometheusNames().flatMap((name) => {
    const asked = new RegExp(`\\b${name}(_bucket|_count)?\\b`);
    const ids = all.filter(({ metric = '' }) => asked.test(metric)).map(({ id }) => code(id));
    return ids.length === 0 ? [] : [[code(name), ids.join(', ')]];
  });
  return table(['metric', 'alerts'], rows);
}

/** Events with the alerts that they mean, and why there is none for the other errors. */
function onEvents(programs: readonly Program[], unalerted: Readonly<Record<string, string | undefined>>): string {
  const meant = new Map<string, string[]>();
  for (const { id, events = [], level } of programs.flatMap((program) => alerts[program] as readonly Alert[]))
    for (const event of events)
      meant.set(event, [...(meant.get(event) ?? []), `${code(id)}${level === undefined ? '' : ` at ${code(level)}`}`]);
  const rows = [...meant].map(([event, ids]) => [code(event), ids.join(', ')]);
  const reasons = Object.entries(unalerted).map(([event, reason = '']) => [code(event), reason]);
  return `${table(['event that alerts', 'alert'], rows)}\n\n${table(['error without an alert', 'why'], reasons)}`;
}

/** The tables by page and by the name of their place in it. */
const pages: Readonly<Record<string, () => Readonly<Record<string, string>>>> = {
  'docs/operations.md': () => ({ 'alerts of the service': ofProgram('service') }),
  'docs/methods.md': () => ({
    'alerts of the front door': ofProgram('front door'),
    'alerts of the edge proxy': ofProgram('edge proxy'),
  }),
  'docs/metrics.md': () => ({ 'alerts on metrics': onMetrics() }),
  'docs/log-events.md': () => ({
    'alerts on events': onEvents(['service', 'front door'], serviceUnalerted),
    'alerts on events of the edge proxy': onEvents(['edge proxy'], edgeUnalerted),
  }),
};

export const alertPages = Object.keys(pages);

/** The page with its tables renewed. */
export const withAlerts = (file: string, page: string): string => withTexts(page, pages[file]?.() ?? {});

export function writeAlertTables(): void {
  for (const file of alertPages) writeFileSync(file, withAlerts(file, readFileSync(file, 'utf8')));
}
