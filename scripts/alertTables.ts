import { stringify } from 'yaml';
import type { Alert } from './alerts/alert.ts';
import { edgeAlerts, edgeUnalerted } from './alerts/edge.ts';
import { frontDoorAlerts, serviceAlerts, serviceUnalerted } from './alerts/service.ts';
import { withTexts } from './writtenPart.ts';

/** The tables of alerts in three pages, from the declarations in `scripts/alerts`. */

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

/** Why there is no alert for an error. */
const withoutAlert = (reasons: Readonly<Record<string, string | undefined>>): string =>
  table(
    ['error without an alert', 'why'],
    Object.entries(reasons).map(([event, reason = '']) => [code(event), reason]),
  );

export const alertPages: Readonly<Record<string, (page: string) => string>> = {
  'docs/operations.md': (page) => withTexts(page, { 'alerts of the service': ofProgram('service') }),
  'docs/methods.md': (page) =>
    withTexts(page, {
      'alerts of the front door': ofProgram('front door'),
      'alerts of the edge proxy': ofProgram('edge proxy'),
    }),
  'docs/log-events.md': (page) =>
    withTexts(page, {
      'events without an alert': withoutAlert(serviceUnalerted),
      'events of the edge proxy without an alert': withoutAlert(edgeUnalerted),
    }),
};

/** The alerts that have a metric, as rules for Prometheus: for Prometheus itself, and for its operator. */

/** A link of a page is its text here: a rule is read elsewhere. */
const plain = (sentences: string): string => sentences.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');

/**
 * For Prometheus a counter that begins with its first error has not increased, and the error of a program that makes no second
 * one would be missed: so a series that was not there before counts, too (D389).
 */
const withFirst = (metric: string): string =>
  metric.replace(
    /increase\((\w+(?:\{[^}]*\})?)\[(\w+)\]\) > 0/g,
    (increase, series, range) => `(${increase} or (${series} unless ${series} offset ${range}) > 0)`,
  );

const ruleOf = ({ id, metric, for: lasting, severity, means, todo, runbook }: Alert) => ({
  alert: id,
  expr: withFirst(metric ?? ''),
  ...(lasting !== undefined && { for: lasting }),
  labels: { severity },
  annotations: { summary: plain(means), description: plain(todo), runbook: `docs/troubleshooting.md#${runbook}` },
});

const groupOf = (name: string, declared: readonly Alert[]) => ({
  name,
  rules: declared.filter(({ metric }) => metric !== undefined).map(ruleOf),
});

const server = [
  groupOf('device-messaging', alerts.service),
  groupOf('device-messaging-methods', alerts['front door']),
] as const;
const edge = [groupOf('edge-proxy', alerts['edge proxy'])] as const;

const head = '# Written by `npm run docs` from scripts/alerts.\n';
const written = (content: object): string => head + stringify(content, { lineWidth: 0 });

export const ruleFiles: Readonly<Record<string, string>> = {
  'deploy/monitoring/alerts.yaml': written({ groups: server }),
  'deploy/monitoring/edge-alerts.yaml': written({ groups: edge }),
  'deploy/kubernetes/monitoring/prometheus-rule.yaml': written({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'device-messaging', labels: { 'app.kubernetes.io/part-of': 'device-messaging' } },
    spec: { groups: server },
  }),
};
