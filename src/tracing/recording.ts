import { ROOT_CONTEXT, type Span as SdkSpan, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { within } from '../concurrency/waiting.ts';
import type { Troubles } from '../log/troubles.ts';
import { collectorAgent } from '../network/collectorAgent.ts';
import { newTraceparent } from '../protocol/ids.ts';
import { watchExport } from './exportWatch.ts';
import { type Attributes, type RootSpan, type Span, type Traces, unrecorded } from './span.ts';

interface RecordingOptions {
  /** Address for the spans. */
  readonly url: string;
  /** Share of the roots that are recorded, 0 to 1. */
  readonly ratio: number;
  /** Of this program, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES say otherwise. */
  readonly resource: Readonly<Record<'service.name' | 'service.version' | 'service.instance.id', string>>;
  readonly troubles: Troubles;
}

/** About 2 KB each. Beyond it spans are dropped. */
const mostQueued = 4_096;
const batch = { maxQueueSize: mostQueued, maxExportBatchSize: 512, scheduledDelayMillis: 1_000 };
const mostRequests = 10;
const limits = { attributeCountLimit: 32, eventCountLimit: 32, linkCountLimit: 1, attributePerEventCountLimit: 8 };
const longestText = 256;
/** For the last spans at a stop. */
const flushMs = 2_000;

const kinds = {
  consumer: SpanKind.CONSUMER,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
} as const;

/** Records spans and sends them to a collector (OTLP over HTTP). Only `openTraces` loads this file and its libraries. */
export function startRecording({ url, ratio, resource, troubles }: RecordingOptions): Traces {
  const delivery = watchExport(
    new OTLPTraceExporter({ url, concurrencyLimit: mostRequests, ...collectorAgent(url) }),
    mostQueued,
    troubles,
  );
  const ids = new RandomIdGenerator();
  const sampler = new TraceIdRatioBasedSampler(ratio);
  let nextTraceId = '';
  const provider = new BasicTracerProvider({
    // `begin` has decided before it starts a span.
    sampler: new AlwaysOnSampler(),
    idGenerator: { generateTraceId: () => nextTraceId, generateSpanId: ids.generateSpanId },
    resource: defaultResource()
      .merge(resourceFromAttributes(resource))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [delivery.processor, new BatchSpanProcessor(delivery.exporter, batch)],
    spanLimits: limits,
  });
  const tracer = provider.getTracer('device-messaging', resource['service.version']);

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

const short = (text: string): string => text.slice(0, longestText).toWellFormed();

function bounded(attributes: Attributes): Record<string, string | number | boolean> {
  const kept: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) kept[name] = typeof value === 'string' ? short(value) : value;
  }
  return kept;
}
