import { createExposition } from 'telemetry/exposition.ts';
import { observeProcess } from 'telemetry/processGauges.ts';
import { within } from '../concurrency/waiting.ts';
import type { LogLines } from './log.ts';
import { createMeter, type Meter, type MeterWithReadings, noMeter } from './meter.ts';
import type { MetricName } from './metrics.ts';
import type { ProgramResource } from './resource.ts';
import { metricsWanted } from './signals.ts';
import { createTroubles } from './troubles.ts';

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

interface MetricsOptions extends ProgramResource {
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
  const report = { ...program, meter, since: Date.now() };
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
    const { sendToCollector } = await import('./otlp.ts');
    return sendToCollector(report, wanted, failed, () => troubles.clear(source));
  }

  /** The library is loaded at the first scrape only. */
  async function openExposition() {
    const { resourceOf } = await import('./resource.ts');
    const attributes = Object.entries(resourceOf(program).attributes).map(([key, value]) => [key, String(value)]);
    return createExposition(meter, Object.fromEntries(attributes));
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
