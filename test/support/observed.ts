import type { MeterWithReadings, MetricName } from '../../src/observing/metrics.ts';
import type { Observation } from '../../src/observing/observation.ts';

export function recordingLog() {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields: { ...fields }, message });
  };
  return { lines, info: at('info'), warn: at('warn'), error: at('error') };
}

/** The series of a metric that are not 0: of a histogram how many values, else the value, by the values of the attributes. */
export function readingOf(meter: MeterWithReadings, name: MetricName): Record<string, number> {
  const reading = meter.readings().find((one) => one.name === name);
  const isHistogram = reading?.declaration.kind === 'histogram';
  return Object.fromEntries(
    [...(reading?.read() ?? [])]
      .map(({ values, sum, count }) => [values.join(' ').trim(), isHistogram ? count : sum] as const)
      .filter(([, value]) => value !== 0),
  );
}

/** The sums of a histogram, by the values of its attributes. */
export function sumsOf(meter: MeterWithReadings, name: MetricName): Record<string, number> {
  const reading = meter.readings().find((one) => one.name === name);
  return Object.fromEntries(Array.from(reading?.read() ?? [], ({ values, sum }) => [values.join(' ').trim(), sum]));
}

/** The course of a message, as those who work for it see it: nobody follows the device, and no spans are recorded. */
export const courseOf = (changes: Partial<Observation> = {}): Observation => ({
  begunAt: performance.now(),
  open: new Set(),
  ...{ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', span: undefined, times: {} },
  publish: undefined,
  ...changes,
});

export function grouped<T, K>(things: readonly T[], keyOf: (thing: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const thing of things) {
    const key = keyOf(thing);
    const group = groups.get(key);
    if (group) group.push(thing);
    else groups.set(key, [thing]);
  }
  return groups;
}
