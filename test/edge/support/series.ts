import type { createMeter } from '../../../edge/src/metrics/metrics.ts';

/** The series of a metric of the edge proxy. */
export const seriesOf = (meter: ReturnType<typeof createMeter>, metric: string) => [
  ...(meter
    .readings()
    .find(({ name }) => name === metric)
    ?.read() ?? []),
];
