import { attributesOf, type Reading, type Series } from './meter.ts';

type Label = readonly [key: string, value: string];

/**
 * Writes metrics in the text format of Prometheus, version 0.0.4: a line for each series, with dots of names as underscores,
 * `_total` behind counters, and cumulative buckets (D117).
 * @param target attributes of the program: the labels of `target_info`
 */
export function createExposition(
  { readings }: { readings(): readonly Reading[] },
  target: Readonly<Record<string, string>>,
): () => string {
  const info = `target_info${labelled(Object.entries(target).map(labelOf))} 1`;
  const head = ['# HELP target_info Target metadata', '# TYPE target_info gauge', info];
  return () => `${[...head, ...readings().flatMap(linesOf)].join('\n')}\n`;
}

function linesOf({ name, declaration, read }: Reading): string[] {
  const { kind, what, buckets: bounds } = declaration;
  const printed = kind === 'counter' ? `${plain(name)}_total` : plain(name);
  const lines = seriesFrom(read).flatMap((one) => {
    const labels = attributesOf(declaration, one).map(labelOf);
    const line = (end: string, value: number, own = labels) => `${printed}${end}${labelled(own)} ${value}`;
    if (kind !== 'histogram') return [line('', one.sum)];
    let count = 0;
    const buckets = [...bounds, '+Inf'].map((bound, index) => {
      count += one.buckets[index] ?? 0;
      return line('_bucket', count, [...labels, ['le', String(bound)]]);
    });
    return [line('_count', one.count), line('_sum', one.sum), ...buckets];
  });
  if (lines.length === 0) return [];
  const type = kind === 'updowncounter' ? 'gauge' : kind;
  return [`# HELP ${printed} ${escaped(what)}`, `# TYPE ${printed} ${type}`, ...lines];
}

/** A metric that cannot be read now, such as memory without a free file descriptor, leaves out only itself. */
function seriesFrom(read: Reading['read']): readonly Readonly<Series>[] {
  try {
    return [...read()];
  } catch {
    return [];
  }
}

const plain = (name: string): string => name.replaceAll(/[^\w:]/g, '_');
const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
const labelOf = ([key, value]: Label): Label => [plain(key), value];
const quoted = ([key, value]: Label) => `${key}="${escaped(value).replaceAll('"', '\\"')}"`;
const labelled = (labels: readonly Label[]): string => (labels.length === 0 ? '' : `{${labels.map(quoted).join(',')}}`);
