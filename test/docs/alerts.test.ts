import { readFileSync } from 'node:fs';
import type { Declaration } from '@device-messaging/telemetry/meter.ts';
import { processMetrics } from '@device-messaging/telemetry/process.ts';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { events as edgeEvents } from '../../edge/src/observing/log.ts';
import { edgeMetrics } from '../../edge/src/observing/metrics.ts';
import type { Alert } from '../../scripts/alerts/alert.ts';
import { edgeUnalerted } from '../../scripts/alerts/edge.ts';
import { serviceUnalerted } from '../../scripts/alerts/service.ts';
import { alerts } from '../../scripts/alertTables.ts';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { dashboards } from '../../scripts/recording/series.ts';
import { events } from '../../src/observing/events.ts';
import { metrics } from '../../src/observing/metrics.ts';
import { settingDocs } from '../../src/settings/config.ts';

type Events = Readonly<Record<string, { readonly levels: readonly string[] }>>;
type Metrics = Readonly<Record<string, Declaration>>;
const ofEdge: readonly Alert[] = alerts['edge proxy'];
const all: readonly Alert[] = [...alerts.service, ...ofEdge];

it('alerts have unique names', () => {
  const names = all.map(({ id }) => id);
  expect(new Set(names).size).toBe(names.length);
});

it('alerts name settings of the service that exist', () => {
  const known = settingDocs().map(({ env }) => env);
  const named = all.flatMap(({ means, todo }) => [...`${means} ${todo}`.matchAll(/`([A-Z]+_[A-Z_]+)`/g)]);
  expect(named.length).toBeGreaterThan(0);
  expect(named.flatMap(([, name = '']) => (known.includes(name) ? [] : [name]))).toEqual([]);
});

it('the example for Alertmanager names alerts that exist, and no two mute each other', () => {
  type Inhibition = Readonly<Record<'source_matchers' | 'target_matchers', readonly string[]>>;
  const { inhibit_rules } = parse(readFileSync('deploy/monitoring/alertmanager.yaml', 'utf8')) as {
    inhibit_rules: readonly Inhibition[];
  };
  const namesIn = (matchers: readonly string[]) =>
    matchers.flatMap((one) => /^alertname=~?"(.*)"$/.exec(one)?.[1]?.split('|') ?? []);
  const others = (names: readonly string[]) => all.map(({ id }) => id).filter((id) => !names.includes(id));
  const mutes = inhibit_rules.flatMap(({ source_matchers, target_matchers }) => {
    const sources = namesIn(source_matchers);
    const named = namesIn(target_matchers);
    const targets = named.length === 0 ? others(sources) : named;
    return sources.flatMap((source) => targets.map((target) => [source, target] as const));
  });
  const names = all.map(({ id }) => id);
  expect(mutes.flat().filter((name) => !names.includes(name))).toEqual([]);
  const follows = (name: string, seen: readonly string[]): boolean =>
    seen.includes(name) || mutes.some(([source, target]) => source === name && follows(target, [...seen, name]));
  expect(names.filter((name) => follows(name, []))).toEqual([]);
});

const selector = /\b((?:[a-z]\w*_)+[a-z]\w*)((?:\{(?:[^"}]|"[^"]*")*\})?)/g;

const seriesIn = (expr: string) => {
  const withoutLists = expr.replace(/\b(?:by|on) ?\([^)]*\)/g, '');
  return [...withoutLists.matchAll(selector)].flatMap(([, name = '', matchers = '']) =>
    functions.includes(name) ? [] : [{ name, matchers: [...matchers.matchAll(/(\w+)[!=]~?"([^"]*)"/g)] }],
  );
};
const functions = ['max_over_time', 'absent_over_time', 'histogram_quantile'];

describe.each<[string, readonly Alert[], Events, Readonly<Record<string, string | undefined>>]>([
  ['service and front door', alerts.service, events, serviceUnalerted],
  ['the edge proxy', ofEdge, edgeEvents, edgeUnalerted],
])('alerts of %s', (_, declared, known, unalerted) => {
  it('name existing events', () => {
    for (const { id, events: lines } of declared) for (const event of lines) expect(known, id).toHaveProperty([event]);
  });
  it.each(Object.entries(known).filter(([, { levels }]) => levels.some((level) => /^(error|fatal)$/.test(level))))(
    'include one for %s, or a reason why there is none',
    (event) => {
      const has = declared.some(({ events: lines }) => lines.includes(event));
      expect([has, unalerted[event] !== undefined].filter(Boolean)).toHaveLength(1);
    },
  );
  it('have reasons for existing events only', () =>
    expect(Object.keys(unalerted).filter((event) => known[event] === undefined)).toEqual([]));
});

const [scaled] = [readFileSync('deploy/kubernetes/scaling/scaled-object.yaml', 'utf8')].map(
  (text) => parse(text).spec.triggers[0].metadata.query as string,
);
const ofPanels = dashboards.flatMap(({ title, panels, templating }) => [
  ...panels.flatMap((panel) => panel.targets.map(({ expr }) => [`${title}: ${panel.title}`, expr] as const)),
  ...templating.list.flatMap(({ name, query }) =>
    name === 'datasource' ? [] : [[`${title}: $${name}`, query.replace(/^label_values\((.*), \w+\)$/, '$1')] as const],
  ),
]);

describe('queries', () => {
  const server: Metrics = metrics;
  const edge: Metrics = { ...edgeMetrics, ...processMetrics };
  const cases: readonly (readonly [string, string, Metrics])[] = [
    ...alerts.service.map(({ id, metric }) => [id, metric, server] as const),
    ...ofEdge.map(({ id, metric }) => [id, metric, edge] as const),
    ...ofPanels.map(([title, expr]) => [title, expr, server] as const),
    ['the autoscaler', scaled ?? '', server],
  ];
  const ofPrometheus = ['namespace', 'job', 'instance'];

  it.each(cases)('of %s ask for existing metrics, attributes and values', (_, expr, declared) => {
    const byName = new Map(Object.entries(declared).map(([name, one]) => [prometheusNameOf(name, one), one]));
    const asked = seriesIn(expr);
    expect(asked.length).toBeGreaterThan(0);
    for (const { name, matchers } of asked) {
      const plain = name.replace(/_(bucket|count|sum)$/, '');
      const found = byName.get(name) ?? (byName.get(plain)?.kind === 'histogram' ? byName.get(plain) : undefined);
      expect(found, name).toBeDefined();
      const constants = Object.entries(found?.constants ?? {});
      for (const [, label = '', values = ''] of matchers.filter(([, label = '']) => !ofPrometheus.includes(label))) {
        const attribute = found?.attributes.find(({ key }) => key.replaceAll('.', '_') === label);
        const [, constant] = constants.find(([key]) => key.replaceAll('.', '_') === label) ?? [];
        expect(attribute ?? constant, label).toBeDefined();
        const allowed = constant === undefined ? (attribute?.values ?? values.split('|')) : [constant];
        for (const value of values.split('|')) expect(allowed).toContain(value);
      }
    }
  });
  it.each(cases)('of %s use existing attributes in by and on', (_, expr, declared) => {
    const labels = [...expr.matchAll(/\b(?:by|on) ?\(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, */));
    const attributes = Object.values(declared).flatMap((one) =>
      one.attributes.map(({ key }) => key.replaceAll('.', '_')),
    );
    expect(labels.filter((label) => !['', 'le', ...ofPrometheus, ...attributes].includes(label))).toEqual([]);
  });
});

describe('environments and programs are kept apart', () => {
  it.each(all.map(({ id, metric }) => [id, metric] as const))(
    'in %s, by each aggregation and each join',
    (_, declared) => {
      const metric = declared.replace(' and group (up offset 2m)', ''); // what was never there has no namespace
      const lists = [...metric.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].map(([, list]) => list);
      expect(lists.length).toBeGreaterThan(0);
      expect(lists.filter((list) => !list?.startsWith('namespace, job'))).toEqual([]);
      expect(metric).not.toMatch(/\b(sum|max|min|count|group|avg) ?\(|\bwithout\b|\bignoring\b/);
    },
  );
  it.each([...ofPanels, ['the autoscaler', scaled ?? ''] as const])('in %s, by each series', (title, expr) => {
    const wanted = title.endsWith('$namespace') ? [] : title.endsWith('$job') ? ['namespace'] : ['namespace', 'job'];
    for (const { name, matchers } of seriesIn(expr)) {
      const labels = matchers.map(([, label]) => label);
      expect(labels.slice(0, 2), name).toEqual(expect.arrayContaining(wanted));
    }
  });
});
