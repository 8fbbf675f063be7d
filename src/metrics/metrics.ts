import type { Declaration } from 'telemetry/declaration.ts';
import { processMetrics } from 'telemetry/processMetrics.ts';
import { backendMetrics } from './declared/backendMetrics.ts';
import { messageMetrics } from './declared/messageMetrics.ts';
import { methodMetrics } from './declared/methodMetrics.ts';
import { partitionMetrics } from './declared/partitionMetrics.ts';
import { readingMetrics } from './declared/readingMetrics.ts';
import { replyMetrics } from './declared/replyMetrics.ts';
import { storeMetrics } from './declared/storeMetrics.ts';

/** Every metric, by chapter of `docs/metrics.md`. The names are an interface: dashboards and alerts use them (D95). */
export const chapters = {
  Messages: messageMetrics,
  Replies: replyMetrics,
  Partitions: { ...partitionMetrics, ...readingMetrics },
  Backends: backendMetrics,
  Stores: storeMetrics,
  'Remote methods, at the front door': methodMetrics,
  Process: processMetrics,
} as const;

/** Every metric, by its name in OpenTelemetry. */
export const metrics = {
  ...messageMetrics,
  ...replyMetrics,
  ...partitionMetrics,
  ...readingMetrics,
  ...backendMetrics,
  ...storeMetrics,
  ...methodMetrics,
  ...processMetrics,
} as const;

export type MetricName = keyof typeof metrics;

const namesOf = <M extends object>(own: M) => Object.keys(own) as MetricName[];

/** Which program has which metrics. */
export const namesIn = {
  service: namesOf(metrics).filter((name) => !Object.hasOwn(methodMetrics, name)),
  methods: [
    ...namesOf(backendMetrics),
    ...namesOf(storeMetrics),
    ...namesOf(methodMetrics),
    ...namesOf(processMetrics),
  ],
};

/** Of the program that has no other names. */
export const mainNames: readonly MetricName[] = namesIn.service;

export const declarationOf = (name: MetricName): Declaration => metrics[name];
