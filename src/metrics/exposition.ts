import { createExposition } from 'telemetry/exposition.ts';
import { observeProcess } from 'telemetry/processGauges.ts';
import type { LogLines } from '../log/log.ts';
import { createTroubles } from '../log/troubles.ts';
import { createMeter, type Meter, noMeter } from './meter.ts';
import type { MetricName } from './metrics.ts';
import { startPeriodicExport } from './periodicExport.ts';
import type { ProgramResource } from './resource.ts';
import { metricsWanted } from './standardVariables.ts';
import { summaryOf } from './summary.ts';

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

export function openMetrics({ env, log, names, ...program }: MetricsOptions): Metrics {
  const wanted = metricsWanted(env);
  if (!wanted.isOn) return { meter: noMeter, text: undefined, summary: () => ({}), close: async () => {} };
  const meter = createMeter(names);
  const report = { ...program, meter, since: Date.now() };
  const stopObserving = observeProcess(meter);
  const troubles = createTroubles(log);
  const sending = startPeriodicExport(report, wanted, troubles);
  let writing: Promise<() => string> | undefined;

  /** The library is loaded at the first scrape only. */
  async function openExposition() {
    const { resourceOf } = await import('./resource.ts');
    const attributes = Object.entries(resourceOf(program).attributes).map(([key, value]) => [key, String(value)]);
    return createExposition(meter, Object.fromEntries(attributes));
  }

  return {
    meter,
    async text() {
      writing ??= openExposition();
      return (await writing)();
    },
    summary: () => summaryOf(meter),
    async close() {
      await sending.close();
      troubles.close();
      stopObserving();
    },
  };
}
