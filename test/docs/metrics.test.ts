import { readFileSync } from 'node:fs';
import type { Declaration } from '@device-messaging/telemetry/meter.ts';
import { describe, expect, it } from 'vitest';
import { edgeMetrics } from '../../edge/src/observing/metrics.ts';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { type MetricName, metrics } from '../../src/observing/metrics.ts';
import { resultCodes } from '../../src/protocol/vocabulary.ts';

const all: [string, Declaration][] = [...Object.entries(metrics), ...Object.entries(edgeMetrics)];
const valuesOf = (name: MetricName, key: string) => {
  const { attributes }: Declaration = metrics[name];
  return attributes.find((one) => one.key === key)?.values;
};

describe('the declarations', () => {
  it.each(all)('include %s, in the form of the standard, and with no attribute of a device', (name, declaration) => {
    const { what, use, kind, buckets, attributes } = declaration;
    expect(name).toMatch(/^(device_messaging|messaging|http|rpc|nodejs|process|v8js)(\.[a-z]+\d*(_[a-z]+)*)+$/);
    expect(what).toMatch(/^[A-Z1].*[^.]$/);
    expect(use).toMatch(/\w[.:]?.*\.$/);
    expect(buckets.length > 0).toBe(kind === 'histogram');
    expect([...buckets].sort((a, b) => a - b)).toEqual(buckets);
    const keys = attributes.map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(key).not.toMatch(/device\.?_?id|correlation|target/i);
  });
  it('have the result codes of the service', () =>
    expect(valuesOf('device_messaging.handled.messages', 'device_messaging.code')).toEqual(Object.keys(resultCodes)));
});

it('the rules of docs/metrics.md make what a collector calls each metric what /metrics calls it', () => {
  const relabellings = /regex: (.+)\n +target_label: __name__\n +replacement: (.+)/g;
  const rules = [...readFileSync('docs/metrics.md', 'utf8').matchAll(relabellings)];
  /** As the translators of the collector and of Prometheus name it: they add a unit that the name has not yet. */
  const units: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes', '1': '_ratio', '/s': '_per_second' };
  const relabelled = all.map(([name, { kind, unit }]) => {
    const suffix = kind === 'gauge' || unit !== '1' ? (units[unit.replace(/^\{.+\}/, '')] ?? '') : '';
    const withUnit = name.replaceAll('.', '_').replace(/(_bytes)?$/, (own) => own || suffix);
    const translated = `${withUnit}${kind === 'counter' ? '_total' : ''}`;
    return rules.reduce(
      (known, [, pattern, replacement = '']) => known.replace(new RegExp(`^(?:${pattern})$`), replacement),
      translated,
    );
  });
  expect(rules).toHaveLength(2);
  expect(relabelled).toEqual(all.map(([name, declaration]) => prometheusNameOf(name, declaration)));
});

it('the queries of docs/metrics.md use existing metrics and attributes', () => {
  const known = all.flatMap(([name, { attributes }]) => [name, ...attributes.map(({ key }) => key)]);
  const printed = new Set(known.map((name) => name.replaceAll('.', '_')));
  const page = readFileSync('docs/metrics.md', 'utf8').split('## Sending them to a collector')[0] ?? '';
  const asked = [...page.matchAll(/\b(?:device_messaging|messaging|http|error)_[a-z_]+/g)].map(([name]) =>
    name.replace(/_(total|bucket|count|sum)$/, ''),
  );
  expect(asked.length).toBeGreaterThan(10);
  expect(asked.filter((name) => !printed.has(name))).toEqual([]);
});
