import { ROOT_CONTEXT, type Span as SdkSpan, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { Resource } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  SamplingDecision,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { within } from '../concurrency/waiting.ts';
import { newTraceparent } from '../protocol/ids.ts';
import type { Troubles } from './log.ts';
import { type Attributes, type RootSpan, type Span, type Traces, unrecorded } from './observation.ts';

interface RecordingOptions {
  readonly to: ConstructorParameters<typeof OTLPTraceExporter>[0];
  /** Share of the roots that are recorded, 0 to 1. */
  readonly ratio: number;
  readonly version: string;
  readonly resource: Resource;
  readonly troubles: Troubles;
}

/** About 2 KB each. Beyond it spans are dropped. */
const mostQueued = 4_096;
const batch = { maxQueueSize: mostQueued, maxExportBatchSize: 512, scheduledDelayMillis: 1_000 };
const mostRequests = 10;
const limits = { attributeCountLimit: 32, eventCountLimit: 32, linkCountLimit: 1, attributePerEventCountLimit: 8 };
const longestText = 256;
const flushMs = 2_000;

const { CONSUMER: consumer, SERVER: server, CLIENT: client, PRODUCER: producer } = SpanKind;
const kinds = { consumer, server, client, producer } as const;

/** Records spans and sends them to a collector (OTLP over HTTP). Only `openTraces` loads this file and its libraries. */
export function startRecording({ to, ratio, version, resource, troubles }: RecordingOptions): Traces {
  const exporter = new OTLPTraceExporter({ ...to, concurrencyLimit: mostRequests });
  const delivery = watchDelivery(exporter, troubles);
  const ids = new RandomIdGenerator();
  const sampler = new TraceIdRatioBasedSampler(ratio);
  let nextTraceId = '';
  const provider = new BasicTracerProvider({
    // `begin` has decided before it starts a span.
    sampler: new AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => nextTraceId, generateSpanId: ids.generateSpanId },
    resource,
    spanProcessors: [delivery.processor, new BatchSpanProcessor(delivery.exporter, batch)],
    spanLimits: limits,
  });
  const tracer = provider.getTracer('device-messaging', version);

  function recorded(span: SdkSpan): Span {
    const { traceId, spanId } = span.spanContext();
    let isEnded = false;
    return {
      traceparent: newTraceparent(traceId, spanId),
      child(name, kind, attributes) {
        const options = { kind: kinds[kind], attributes: bounded(attributes) };
        return recorded(tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, span)));
      },
      event(name, attributes) {
        if (!isEnded) span.addEvent(name, bounded(attributes));
      },
      end(attributes = {}, error) {
        if (isEnded) return;
        isEnded = true;
        span.setAttributes(bounded(attributes));
        if (error !== undefined) {
          span.setAttribute('error.type', error.type);
          const message = error.message === undefined ? {} : { message: short(error.message) };
          span.setStatus({ code: SpanStatusCode.ERROR, ...message });
        }
        span.end();
      },
    };
  }

  return {
    begin({ name, kind, traceId, samplingKey, link, attributes }: RootSpan) {
      const { decision } = sampler.shouldSample(ROOT_CONTEXT, samplingKey);
      if (decision !== SamplingDecision.RECORD_AND_SAMPLED) return unrecorded(traceId);
      nextTraceId = traceId;
      const links = link === undefined ? [] : [{ context: { ...link, traceFlags: TraceFlags.NONE, isRemote: true } }];
      const options = { kind: kinds[kind], links, attributes: bounded(attributes) };
      return recorded(tracer.startSpan(name, options, ROOT_CONTEXT));
    },
    async close() {
      await within(provider.shutdown(), flushMs).catch(delivery.failed);
      troubles.close();
    },
  };
}

/** Reports spans that do not reach the collector, which the library does in silence. */
function watchDelivery(to: SpanExporter, troubles: Troubles) {
  const failing = 'traces';
  let queued = 0;
  const failed = (error: unknown) => {
    const message = 'spans cannot be delivered to the collector';
    troubles.raise(failing, { level: 'warn', message, diagnosis: { err: error } });
  };

  const exporter: SpanExporter = {
    export(spans, done) {
      queued -= spans.length;
      to.export(spans, (result) => {
        if (result.code === 0) troubles.clear(failing);
        else failed(result.error ?? new Error('no reason given'));
        done(result);
      });
    },
    shutdown: () => to.shutdown(),
  };

  /** Stands before the processor that queues the spans, which drops what comes beyond its limit. */
  const processor: SpanProcessor = {
    onStart() {},
    onEnd() {
      const message = 'spans are dropped: the collector takes them too slowly';
      if (queued < mostQueued) queued += 1;
      else troubles.raise('traces: queue', { level: 'warn', message });
    },
    forceFlush: async () => {},
    shutdown: async () => {},
  };

  return { exporter, processor, failed };
}

const short = (text: string): string => text.slice(0, longestText).toWellFormed();

function bounded(attributes: Attributes): Record<string, string | number | boolean> {
  const kept: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) kept[name] = typeof value === 'string' ? short(value) : value;
  return kept;
}
