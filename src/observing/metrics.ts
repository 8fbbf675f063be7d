import type { Declaration } from 'telemetry/declaration.ts';
import { processMetrics } from 'telemetry/processMetrics.ts';
import { backendMetrics, methodMetrics, storeMetrics } from './callMetrics.ts';
import { messageMetrics, partitionMetrics, replyMetrics } from './messageMetrics.ts';

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

const ofService = {
  ...messageMetrics,
  ...replyMetrics,
  ...partitionMetrics,
  ...backendMetrics,
  ...storeMetrics,
  ...processMetrics,
};

/** Every metric, by its name in OpenTelemetry. */
export const metrics = { ...ofService, ...methodMetrics };

export type MetricName = keyof typeof metrics;

const namesOf = (own: object) => Object.keys(own) as MetricName[];

/** Which program has which metrics. */
export const namesIn = {
  service: namesOf(ofService),
  methods: namesOf({ ...backendMetrics, ...storeMetrics, ...methodMetrics, ...processMetrics }),
};

export const declarationOf = (name: MetricName): Declaration => metrics[name];
