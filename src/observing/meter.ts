import {
  createMeter as createMeterOf,
  type Meter as MeterOf,
  type MeterWithReadings as MeterWithReadingsOf,
  noMeter as noMeterOf,
} from 'telemetry/meter.ts';
import { type MetricName, metrics, namesIn } from './metrics.ts';

/** What the parts of the service and of the front door record. */
export type Meter = MeterOf<typeof metrics>;
export type MeterWithReadings = MeterWithReadingsOf<typeof metrics>;

/** @param names the metrics of the program, if it is not the main one */
export const createMeter = (names: readonly MetricName[] = namesIn.service): MeterWithReadings =>
  createMeterOf(metrics, names);

/** Records nothing. */
export const noMeter: Meter = noMeterOf;
