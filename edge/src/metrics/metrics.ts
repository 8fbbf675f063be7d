import {
  createMeter as createMeterOf,
  type Meter as MeterOf,
  type MeterWithReadings,
} from '@device-messaging/telemetry/meter.ts';
import { processMetrics } from '@device-messaging/telemetry/process.ts';
import { edgeMetrics } from './declared/edgeMetrics.ts';

/** Every metric of the edge proxy, by its name in OpenTelemetry. The names are an interface: dashboards and alerts use them (D95). */
export const metrics = { ...edgeMetrics, ...processMetrics } as const;

/** What the parts of the edge proxy record. */
export type Meter = MeterOf<typeof metrics>;

export const createMeter = (): MeterWithReadings<typeof metrics> => createMeterOf(metrics);
