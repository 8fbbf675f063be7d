import { onTestFinished } from 'vitest';
import { createLog } from '../../src/observing/log.ts';
import type { RootSpan, Traces } from '../../src/observing/observation.ts';
import { openTraces } from '../../src/observing/traces.ts';
import { type Collector, startCollector } from '../support/collector.ts';

export interface Recording {
  readonly traces: Traces;
  readonly collector: Collector;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
}

/** Traces as a program has them, with a collector; both are gone after the test. */
export async function startRecording(env: Readonly<Record<string, string>> = {}): Promise<Recording> {
  const collector = await startCollector();
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const variables = { OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env };
  const traces = await openTraces(variables, { service: 'test', version: '1.2.3', instance: 'here-1', log });
  if (traces === undefined) throw new Error('no traces');
  onTestFinished(async () => {
    await traces.close();
    await collector.close();
  });
  return { traces, collector, lines };
}

export const traceId = '0af7651916cd43dd8448eb211c80319c';
export const sent = { traceId, spanId: 'b7ad6b7169203331' };

/** Ids of a message whose share of all messages is so much, from 0 to 1. */
export const keyAt = (share: number): string =>
  `${Math.floor(share * 0xffffffff)
    .toString(16)
    .padStart(8, '0')}${'0'.repeat(23)}1`;

export const rootOf = (changes: Partial<RootSpan> = {}): RootSpan => ({
  ...{ name: 'process model.update', kind: 'consumer', traceId, samplingKey: keyAt(0.5), link: sent },
  attributes: {},
  ...changes,
});
