import { createExposition } from 'telemetry/exposition.ts';
import {
  createMeter as createMeterOf,
  type Meter as MeterOf,
  type MeterWithReadings as MeterWithReadingsOf,
  noMeter as noMeterOf,
} from 'telemetry/meter.ts';
import { observeProcess } from 'telemetry/processGauges.ts';
import { processMetrics } from 'telemetry/processMetrics.ts';
import { within } from '../concurrency/waiting.ts';
import { backendMetrics, methodMetrics, storeMetrics } from './callMetrics.ts';
import { createTroubles, type LogLines } from './log.ts';
import { messageMetrics, partitionMetrics, replyMetrics } from './messageMetrics.ts';
import { metricsWanted, type Program, resourceOf } from './traces.ts';

/** Every metric, by chapter of `docs/metrics.md`. The names are an interface: dashboards and alerts use them (D95). */
export const chapters = {
  Messages: messageMetrics,
  Replies: replyMetrics,
  Partitions: partitionMetrics,
  Backends: backendMetrics,
  Stores: storeMetrics,
  'Remote methods, at the front door': methodMetrics,
  Process: processMetrics,
};

const ofCalls = { ...backendMetrics, ...storeMetrics };
const ofService = { ...messageMetrics, ...replyMetrics, ...partitionMetrics, ...ofCalls, ...processMetrics };

/** Every metric, by its name in OpenTelemetry. */
export const metrics = { ...ofService, ...methodMetrics };

export type MetricName = keyof typeof metrics;

const namesOf = (own: object) => Object.keys(own) as MetricName[];

/** Which program has which metrics. */
export const namesIn = {
  service: namesOf(ofService),
  methods: namesOf({ ...ofCalls, ...methodMetrics, ...processMetrics }),
};

/** What the parts of the service and of the front door record. */
export type Meter = MeterOf<typeof metrics>;
export type MeterWithReadings = MeterWithReadingsOf<typeof metrics>;

/** @param names the metrics of the program, if it is not the main one */
export const createMeter = (names: readonly MetricName[] = namesIn.service): MeterWithReadings =>
  createMeterOf(metrics, names);

/** Records nothing. */
export const noMeter: Meter = noMeterOf;

/** The metrics of a program, and the ways out of it. */
export interface Metrics {
  readonly meter: Meter;
  /** All metrics, in the text format of Prometheus; undefined when they are switched off. */
  readonly text: (() => Promise<string>) | undefined;
  /** The main counts since the start. */
  summary(): object;
  /** Sends the last values to the collector, if there is one. Ends soon, also when the collector does not answer. */
  close(): Promise<void>;
}

interface MetricsOptions extends Program {
  /** The metrics of the program; those of the service when omitted. */
  readonly names?: readonly MetricName[];
  /** For the standard variables of OpenTelemetry. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: LogLines;
}

/** The last export must not delay a stop. */
const lastExportMs = 2_000;
const source = 'metrics collector';

export function openMetrics({ env, log, names, ...program }: MetricsOptions): Metrics {
  const wanted = metricsWanted(env);
  if (!wanted.isOn) return { meter: noMeter, text: undefined, summary: () => ({}), close: async () => {} };
  const meter = createMeter(names);
  const report = { meter, since: Date.now() };
  const stopObserving = observeProcess(meter);
  const troubles = createTroubles(log);
  // The trouble lasts until an export succeeds, also between two attempts.
  const raise = (diagnosis: object) => {
    const message = 'metrics cannot be sent to the collector';
    troubles.raise(source, { level: 'warn', message, diagnosis, still: () => ({}) });
  };
  const failed = (error: unknown): undefined => void raise({ err: error });
  let writing: Promise<() => string> | undefined;

  /** Nothing waits for it, and its failures are logged (D118). */
  async function startSending(): Promise<(() => Promise<void>) | undefined> {
    if (wanted.isSent && wanted.unusable.length > 0) raise({ unusable: wanted.unusable });
    if (!wanted.isSent || wanted.unusable.length > 0) return undefined;
    const { sendToCollector } = await import('./otlpMetrics.ts');
    const exported = (error?: Error) => (error ? failed(error) : troubles.clear(source));
    return sendToCollector(report, await resourceOf(program), wanted, exported);
  }

  async function openExposition() {
    const { attributes } = await resourceOf(program);
    const texts = Object.entries(attributes).map(([key, value]) => [key, String(value)]);
    return createExposition(meter, Object.fromEntries(texts));
  }

  const sending = startSending().catch(failed);
  return {
    meter,
    async text() {
      writing ??= openExposition();
      return (await writing)();
    },
    summary: () => summaryOf(meter),
    async close() {
      const last = sending.then((sendLast) => sendLast?.());
      await within(last, lastExportMs).catch(failed);
      troubles.close();
      stopObserving();
    },
  };
}

/** Counts since the start, for the last line of the log. */
export function summaryOf({ total }: Pick<MeterWithReadings, 'total'>) {
  const succeeded = total('device_messaging.handled.messages', 'ok');
  const delivered = total('device_messaging.replies', 'delivered');
  return {
    skipped: total('messaging.client.consumed.messages', 'skipped'),
    misspellings: total('device_messaging.misspellings'),
    unattributed: total('messaging.client.consumed.messages', 'unattributed'),
    undecodable: total('messaging.client.consumed.messages', 'undecodable'),
    succeeded,
    failed: total('device_messaging.handled.messages') - succeeded,
    parked: total('device_messaging.dead_letters', 'parked'),
    notParked: total('device_messaging.dead_letters', 'not_parked'),
    repliesDelivered: delivered,
    repliesDropped: total('device_messaging.replies') - delivered,
  };
}
