import type { Declaration, Reading, Series } from './meter.ts';

interface Report {
  readings(): readonly Reading[];
}

type Labels = readonly (readonly [key: string, value: string])[];

/**
 * Writes metrics in the text format of Prometheus, version 0.0.4: a line for each series, with dots of names as underscores,
 * `_total` behind counters, and cumulative buckets (D117).
 * @param target attributes of the program, by their names in OpenTelemetry, as operators may choose them: the labels of `target_info`
 */
export function createExposition({ readings }: Report, target: Readonly<Record<string, string>>): () => string {
  const info = [
    '# HELP target_info Target metadata',
    '# TYPE target_info gauge',
    `target_info${labelled(merged(target))} 1`,
  ];
  return () => `${[...info, ...readings().flatMap(linesOf)].join('\n')}\n`;
}

function linesOf({ name, declaration, read }: Reading): string[] {
  const { kind, what } = declaration;
  const printed = kind === 'counter' ? `${plain(name)}_total` : plain(name);
  const series = seriesFrom(read);
  if (series.length === 0) return [];
  return [
    `# HELP ${printed} ${escaped(what)}`,
    `# TYPE ${printed} ${kind === 'updowncounter' ? 'gauge' : kind}`,
    ...series.flatMap((one) => {
      const labels = labelsOf(declaration, one);
      if (kind === 'histogram') return histogramLines(printed, declaration, one, labels);
      return [`${printed}${labelled(labels)} ${one.sum}`];
    }),
  ];
}

/** A metric that cannot be read now, such as memory without a free file descriptor, leaves out only itself. */
function seriesFrom(read: Reading['read']): readonly Readonly<Series>[] {
  try {
    return [...read()];
  } catch {
    return [];
  }
}

function histogramLines(name: string, { buckets: bounds }: Declaration, one: Readonly<Series>, labels: Labels) {
  let count = 0;
  const buckets = [...bounds, '+Inf'].map((bound, index) => {
    count += one.buckets[index] ?? 0;
    return `${name}_bucket${labelled([...labels, ['le', String(bound)]])} ${count}`;
  });
  return [`${name}_count${labelled(labels)} ${one.count}`, `${name}_sum${labelled(labels)} ${one.sum}`, ...buckets];
}

function labelsOf({ attributes, constants }: Declaration, { values }: Readonly<Series>): Labels {
  const own = attributes.map(({ key }, index) => [plain(key), values[index] ?? ''] as const);
  const fixed = Object.entries(constants).map(([key, value]) => [plain(key), value] as const);
  return [...fixed, ...own.filter(([, value]) => value !== '')];
}

/** As OpenTelemetry maps any keys to labels: no digit first, and the values of keys that become the same are joined, in the order of the keys. */
function merged(attributes: Readonly<Record<string, string>>): Labels {
  const keys = new Map<string, string[]>();
  for (const key of Object.keys(attributes)) {
    const label = key.replaceAll(/\W/g, '_').replace(/^(?=\d)/, 'key_');
    keys.set(label, [...(keys.get(label) ?? []), key].sort());
  }
  return Array.from(keys, ([label, same]) => [label, same.map((key) => attributes[key]).join(';')] as const);
}

const plain = (name: string): string => name.replaceAll(/[^\w:]/g, '_');

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

const labelled = (labels: Labels): string =>
  labels.length === 0
    ? ''
    : `{${labels.map(([key, value]) => `${key}="${escaped(value).replaceAll('"', '\\"')}"`).join(',')}}`;
