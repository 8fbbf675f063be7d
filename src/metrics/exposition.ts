import type { RequestListener } from 'node:http';
import type { LogLines } from '../log/log.ts';
import { createTroubles } from '../log/troubles.ts';
import { createMeter, type Meter, noMeter } from './meter.ts';
import type { MetricName } from './metrics.ts';
import { observeProcess } from './processGauges.ts';
import { startSending } from './sending.ts';
import type { Report } from './source.ts';
import { metricsWanted } from './standardVariables.ts';
import { summaryOf } from './summary.ts';

/** The metrics of a program, and the ways out of it. */
export interface Metrics {
  readonly meter: Meter;
  /** Answers `GET /metrics` in the text format of Prometheus; undefined when metrics are switched off. */
  readonly answer: RequestListener | undefined;
  /** The main counts since the start. */
  summary(): object;
  /** Sends the last values to the collector, if there is one. Ends soon, also when the collector does not answer. */
  close(): Promise<void>;
}

interface MetricsOptions extends Omit<Report, 'meter' | 'since'> {
  /** The metrics of the program; those of the service when omitted. */
  readonly names?: readonly MetricName[];
  /** For the standard variables of OpenTelemetry. */
  readonly env: NodeJS.ProcessEnv;
  readonly log: LogLines;
}

export function openMetrics({ env, log, names, ...whose }: MetricsOptions): Metrics {
  const wanted = metricsWanted(env);
  if (!wanted.isOn) return { meter: noMeter, answer: undefined, summary: () => ({}), close: async () => {} };
  const meter = createMeter(names);
  const report = { ...whose, meter, since: Date.now() };
  const stopObserving = observeProcess(meter);
  const troubles = createTroubles(log);
  const sending = startSending(report, wanted, troubles);
  let loading: Promise<RequestListener> | undefined;

  return {
    meter,
    answer(request, response) {
      loading ??= import('./prometheus.ts').then(({ createScrape }) => createScrape(report));
      loading
        .then((scrape) => scrape(request, response))
        .catch(() => {
          if (!response.headersSent) response.writeHead(500);
          response.end();
        });
    },
    summary: () => summaryOf(meter),
    async close() {
      await sending.close();
      troubles.close();
      stopObserving();
    },
  };
}
