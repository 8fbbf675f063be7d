import { findCard } from '../messages/index.ts';
import type { Arrival } from '../protocol/arrival.ts';
import { resultCodes } from '../protocol/codes.ts';
import type { Envelope } from '../protocol/envelope.ts';
import { derivedTraceId, newTraceparent, traceContextOf } from '../protocol/trace.ts';
import type { Span, Traces } from '../tracing/span.ts';
import type { Answered } from './respond.ts';

/** The trace of a message. The trace id is the same whether spans are recorded or not (D105). */
export interface MessageTrace {
  readonly traceId: string;
  /** For the dead letter, and for backend calls without spans of their own. */
  readonly traceparent: string;
  /** Undefined when no spans are recorded. */
  readonly span: Span | undefined;
}

/** Begins the trace of a message; its span follows OpenTelemetry's conventions for messaging consumers. */
export function beginTrace(traces: Traces | undefined, arrival: Arrival, envelope: Envelope): MessageTrace {
  const { eventId, properties } = envelope;
  const sent = traceContextOf(properties['traceparent']);
  const samplingKey = derivedTraceId(eventId);
  const traceId = sent?.traceId ?? samplingKey;
  if (traces === undefined) return { traceId, traceparent: newTraceparent(traceId), span: undefined };

  const { event, generation, deviceId, origin, redelivered } = arrival;
  const message = envelope.name === undefined ? undefined : findCard(generation, envelope.name)?.name;
  const span = traces.begin({
    name: `process ${message ?? 'unknown message'}`,
    kind: 'consumer',
    traceId,
    samplingKey,
    link: sent,
    attributes: {
      'messaging.system': 'eventhubs',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': origin.hub,
      'messaging.destination.partition.id': origin.partition,
      'messaging.message.id': eventId,
      'messaging.message.conversation_id': envelope.correlationId,
      'messaging.eventhubs.message.enqueued_time': Math.floor(event.enqueuedTimeUtc.getTime() / 1000),
      'svc.device.id': deviceId,
      'svc.message.name': message,
      'svc.message.sequence_number': event.sequenceNumber,
      'svc.message.redelivered': redelivered || undefined,
    },
  });
  return { traceId, traceparent: span.traceparent, span };
}

/** Only a failure that is not the device's is an error of the span. */
export function endHandled(span: Span, { failure, sent, dropped }: Answered): void {
  const isError = failure !== undefined && resultCodes[failure.code].fault !== 'device';
  span.end(
    {
      'svc.code': failure?.code ?? 'ok',
      'svc.replies.sent': sent,
      'svc.replies.dropped': dropped.length || undefined,
    },
    isError ? { type: failure.code, message: failure.details } : undefined,
  );
}

/** Ends the span of a message that another instance handles, or whose handling has a defect. */
export async function untilHandled(span: Span, handling: Promise<boolean>): Promise<boolean> {
  try {
    const isHandled = await handling;
    span.end({}, isHandled ? undefined : { type: 'released' });
    return isHandled;
  } catch (error) {
    span.end({}, { type: 'unforeseen' });
    throw error;
  }
}
