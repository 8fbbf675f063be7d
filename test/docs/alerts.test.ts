import type { Declaration } from '@device-messaging/telemetry/meter.ts';
import { processMetrics } from '@device-messaging/telemetry/process.ts';
import { describe, expect, it } from 'vitest';
import { events as edgeEvents } from '../../edge/src/observing/log.ts';
import { edgeMetrics } from '../../edge/src/observing/metrics.ts';
import type { Alert } from '../../scripts/alerts/alert.ts';
import { edgeUnalerted } from '../../scripts/alerts/edge.ts';
import { serviceUnalerted } from '../../scripts/alerts/service.ts';
import { alerts } from '../../scripts/alertTables.ts';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { events } from '../../src/observing/events.ts';
import { metrics } from '../../src/observing/metrics.ts';

type Events = Readonly<Record<string, { readonly levels: readonly string[] }>>;
type Metrics = Readonly<Record<string, Declaration>>;
const ofServer = [...alerts.service, ...alerts['front door']] as readonly Alert[];
const ofEdge = alerts['edge proxy'] as readonly Alert[];

it('alerts have unique names', () => {
  const names = [...ofServer, ...ofEdge].map(({ id }) => id);
  expect(new Set(names).size).toBe(names.length);
});

describe.each<[string, readonly Alert[], Events, Metrics, Readonly<Record<string, string | undefined>>]>([
  ['service and front door', ofServer, events, metrics, serviceUnalerted],
  ['edge proxy', ofEdge, edgeEvents, { ...edgeMetrics, ...processMetrics }, edgeUnalerted],
])('alerts of %s', (_, declared, known, declaredMetrics, unalerted) => {
  it('name existing events at one of their levels', () => {
    for (const { id, events: lines = [], until, level } of declared) {
      for (const event of [...lines, ...(until === undefined ? [] : [until])])
        expect(known, id).toHaveProperty([event]);
      if (level !== undefined) for (const event of lines) expect(known[event]?.levels, id).toContain(level);
    }
  });
  it.each(Object.entries(known).filter(([, { levels }]) => levels.some((level) => /^(error|fatal)$/.test(level))))(
    'include one for %s, or a reason why there is none',
    (event) => {
      const has = declared.some(({ events: lines = [], level }) => lines.includes(event) && level !== 'warn');
      expect([has, unalerted[event] !== undefined].filter(Boolean)).toHaveLength(1);
    },
  );
  it('have reasons for existing events only', () =>
    expect(Object.keys(unalerted).filter((event) => known[event] === undefined)).toEqual([]));

  const byName = new Map(Object.entries(declaredMetrics).map(([name, one]) => [prometheusNameOf(name, one), one]));
  const measured = declared.flatMap(({ id, metric }) => (metric === undefined ? [] : ([[id, metric]] as const)));

  it.each(measured)('query existing metrics, attributes and values in %s: %s', (_id, metric) => {
    const series = [...metric.matchAll(/\b((?:[a-z]\w*_)+[a-z]\w*)(?:\{([^}]*)\})?/g)];
    const asked = series.filter(([, name = '']) => !isLabelOrFunction(name));
    expect(asked.length).toBeGreaterThan(0);
    for (const [, name = '', labels = ''] of asked) {
      const plain = name.replace(/_(bucket|count|sum)$/, '');
      const found = byName.get(name) ?? (byName.get(plain)?.kind === 'histogram' ? byName.get(plain) : undefined);
      expect(found, name).toBeDefined();
      for (const [, label = '', values = ''] of labels.matchAll(/(\w+)[!=]~?"([^"]*)"/g)) {
        const attribute = found?.attributes.find(({ key }) => key.replaceAll('.', '_') === label);
        expect(attribute, label).toBeDefined();
        const allowed = attribute?.values ?? values.split('|');
        for (const value of values.split('|')) expect(allowed).toContain(value);
      }
    }
  });
  it.each(measured)('use existing attributes in by, ignoring and on in %s: %s', (_id, metric) => {
    const labels = [...metric.matchAll(/\b(?:by|ignoring|on) ?\(([^)]*)\)/g)].flatMap(([, list = '']) =>
      list.split(/, */),
    );
    const attributes = Object.values(declaredMetrics).flatMap((one) =>
      one.attributes.map(({ key }) => key.replaceAll('.', '_')),
    );
    expect(labels.filter((label) => !['', 'le', ...attributes].includes(label))).toEqual([]);
  });
});

const isLabelOrFunction = (name: string): boolean =>
  /^(max_over_time|histogram_quantile)$/.test(name) || ofAttributes.has(name);
const ofAttributes = new Set(
  [...Object.values<Declaration>(metrics), ...Object.values<Declaration>(edgeMetrics)].flatMap(({ attributes }) =>
    attributes.map(({ key }) => key.replaceAll('.', '_')),
  ),
);
