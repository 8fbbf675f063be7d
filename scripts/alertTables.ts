import { stringify } from 'yaml';
import type { Alert } from './alerts/alert.ts';
import { edgeAlerts, edgeUnalerted } from './alerts/edge.ts';
import { serviceAlerts, serviceUnalerted } from './alerts/service.ts';
import { code, table, withTexts } from './writtenPart.ts';

/** The tables of alerts in three pages, and the rules for Prometheus, from the declarations in `scripts/alerts`. */

export const alerts = { service: serviceAlerts, 'edge proxy': edgeAlerts } as const;

const ofProgram = (program: keyof typeof alerts): string =>
  table(
    ['alert', 'level', 'after', 'what it means, and what to do', 'lines of the log'],
    alerts[program].map(({ id, severity, for: lasting = '', means, todo, events }: Alert) => [
      ...[code(id), severity, lasting, `${means} ${todo}`, events.map(code).join(', ')],
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
  'docs/methods.md': (page) => withTexts(page, { 'alerts of the edge proxy': ofProgram('edge proxy') }),
  'docs/log-events.md': (page) =>
    withTexts(page, {
      'events without an alert': withoutAlert(serviceUnalerted),
      'events of the edge proxy without an alert': withoutAlert(edgeUnalerted),
    }),
};

/** A link of a page is its text here: a rule is read elsewhere. */
const plain = (sentences: string): string => sentences.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1');

/** Where the pages are, from the one rule that says so (D441). */
const pages = '{{ with query "device_messaging_runbooks" }}{{ (first .).Labels.url }}{{ end }}';

const ruleOf = ({ id, metric, for: lasting, severity, means, todo, runbook }: Alert) => ({
  alert: id,
  expr: metric,
  ...(lasting !== undefined && { for: lasting }),
  // For the routes of an Alertmanager that has alerts of others, too.
  labels: { severity, service: 'device-messaging' },
  annotations: {
    summary: plain(means),
    description: plain(todo),
    runbook_url: `${pages}operations.md#${runbook}`,
  },
});

const runbooks = {
  name: 'device-messaging-runbooks',
  rules: [{ record: 'device_messaging_runbooks', expr: 'vector(1)', labels: { url: 'https://pages.example/docs/' } }],
};
const groupOf = (name: string, declared: readonly Alert[]) => ({
  name,
  interval: '30s',
  rules: declared.map(ruleOf),
});
const groups = [groupOf('device-messaging', serviceAlerts), groupOf('edge-proxy', edgeAlerts)];

const comment = `# Written by \`npm run docs\` from scripts/alerts. Alerts link to the pages below \`url\`: set it to where you keep docs/.\n`;
const written = (content: object): string => stringify(content, { lineWidth: 0 });
const resource = (name: string, spec: object): string =>
  written({
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name, labels: { 'app.kubernetes.io/part-of': 'device-messaging' } },
    spec,
  });

export const ruleFiles: Readonly<Record<string, string>> = {
  'deploy/monitoring/alerts.yaml': comment + written({ groups: [runbooks, ...groups] }),
  'deploy/helm/alerts.yaml': written({ groups }),
  // The first resource is of its own, so that an overlay can replace it.
  'deploy/kubernetes/monitoring/prometheus-rule.yaml': `${comment}${resource(runbooks.name, { groups: [runbooks] })}---\n${resource('device-messaging', { groups })}`,
};
