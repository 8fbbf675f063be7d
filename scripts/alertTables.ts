import type { Alert } from './alerts/alert.ts';
import { edgeAlerts, edgeUnalerted } from './alerts/edge.ts';
import { frontDoorAlerts } from './alerts/frontDoor.ts';
import { serviceAlerts, serviceUnalerted } from './alerts/service.ts';
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
