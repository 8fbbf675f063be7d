import { stringify } from 'yaml';
import type { Alert } from './alerts/alert.ts';
import { alerts } from './alertTables.ts';

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
