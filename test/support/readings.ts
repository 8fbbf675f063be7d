import type { MeterWithReadings } from '../../src/metrics/meter.ts';
import type { MetricName } from '../../src/metrics/metrics.ts';

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
