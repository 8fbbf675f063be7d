import { timeOfDay } from '../concurrency/clocks.ts';
import type { Envelope } from '../protocol/envelope.ts';
import type { Arrival, HubEvent } from '../protocol/event.ts';
import { firstOf, type Rejection } from '../protocol/rejection.ts';
import type { Reply } from '../protocol/reply.ts';
import { type DropReason, resultCodes } from '../protocol/vocabulary.ts';
import type { Attributes, SpanError } from '../tracing/span.ts';
import type { CallTimes } from './course.ts';

/** What the log, the tap and the traces say of a message: values in, fields out. */

/** A message whose handling has begun. */
export interface BegunMessage {
  readonly arrival: Arrival;
  readonly envelope: Envelope;
  readonly traceId: string;
  /** Undefined for a dead letter. */
  readonly waits: Waits | undefined;
}

/** A message that was handled to its end. */
export interface EndedMessage extends BegunMessage {
  /** Duration of the handling without replies. */
  readonly ms: number;
  readonly repliesMs: number;
  readonly backends: CallTimes;
  readonly remarks: readonly string[];
  readonly failure: Rejection | undefined;
  /** Number of replies that the hub has accepted. */
  readonly sent: number;
  readonly dropped: readonly Drop[];
}

interface Drop {
  readonly kind: Reply['kind'];
  readonly device: string;
  readonly reason: DropReason;
}

/** How long a message waited before its handling began, in milliseconds. */
export interface Waits {
  /** In the hub. The hub's clock and ours differ, and ours can be set: 0 instead of less. */
  readonly hubMs: number;
  /** Behind others, since it was read. */
  readonly laneMs: number;
}

/**
 * @param readAt when it was read from the hub; undefined for a dead letter
 * @param begunAt when its handling began; both as `performance.now()`
 */
export const waitsOf = (
  { enqueuedTimeUtc }: HubEvent,
  readAt: number | undefined,
  begunAt: number,
): Waits | undefined =>
  readAt === undefined
    ? undefined
    : { hubMs: Math.max(0, timeOfDay(readAt) - enqueuedTimeUtc.getTime()), laneMs: begunAt - readAt };

/** Of the one log line of a handled message (G5, D91). */
export function messageLineOf(ended: EndedMessage): object {
  const { arrival, envelope, traceId, waits, ms, repliesMs, remarks, failure, sent, dropped } = ended;
  const backends = rounded(ended.backends);
  return {
    device: envelope.deviceId,
    message: envelope.name?.slice(0, 128),
    code: failure?.code ?? 'ok',
    ...(failure && { details: failure.details }),
    correlationId: envelope.correlationId?.slice(0, 128),
    traceId,
    ack: envelope.ack,
    partition: arrival.origin.partition,
    sequenceNumber: arrival.event.sequenceNumber,
    hubWaitMs: waits?.hubMs,
    laneWaitMs: waits && Math.round(waits.laneMs),
    ms: Math.round(ms),
    backends,
    replies: sent,
    repliesMs: sent + dropped.length > 0 ? Math.round(repliesMs) : undefined,
    ...(dropped.length > 0 && { dropped: dropped.slice(0, 10), droppedReplies: dropped.length }),
    ...(remarks.length > 0 && { remarks: firstOf(remarks) }),
  };
}

/** Whether an operator should look at the line. */
export const isAlarming = ({ failure, dropped }: EndedMessage): boolean =>
  dropped.length > 0 || failure?.code === 'internal_platform_error';

export const messageTapFieldsAtBegin = ({ arrival, envelope, traceId, waits }: BegunMessage): object => ({
  message: envelope.name,
  generation: arrival.generation,
  correlationId: envelope.correlationId,
  traceId,
  ack: envelope.ack,
  laneWaitMs: waits && Math.round(waits.laneMs),
  redelivered: arrival.redelivered,
  parkedBefore: arrival.attempts ?? 0,
});

export const messageTapFieldsAtEnd = ({
  envelope,
  ms,
  repliesMs,
  backends,
  remarks,
  failure,
  sent,
  dropped,
}: EndedMessage): object => ({
  code: failure?.code ?? 'ok',
  details: failure?.details,
  ack: envelope.ack,
  ms: Math.round(ms),
  repliesMs: Math.round(repliesMs),
  replies: sent,
  dropped: dropped.length > 0 ? dropped : undefined,
  backends: rounded(backends) ?? {},
  remarks: remarks.length > 0 ? remarks : undefined,
});

/** By OpenTelemetry's conventions for messaging consumers. */
export function messageAttributesAtBegin(
  { event, deviceId, origin, redelivered }: Arrival,
  { eventId, correlationId }: Envelope,
  name: string | undefined,
): Attributes {
  return {
    'messaging.system': 'eventhubs',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': origin.hub,
    'messaging.destination.partition.id': origin.partition,
    'messaging.message.id': eventId,
    'messaging.message.conversation_id': correlationId,
    'messaging.eventhubs.message.enqueued_time': Math.floor(event.enqueuedTimeUtc.getTime() / 1000),
    'svc.device.id': deviceId,
    'svc.message.name': name,
    'svc.message.sequence_number': event.sequenceNumber,
    'svc.message.redelivered': redelivered || undefined,
  };
}

export const messageAttributesAtEnd = ({ failure, sent, dropped }: EndedMessage): Attributes => ({
  'svc.code': failure?.code ?? 'ok',
  'svc.replies.sent': sent,
  'svc.replies.dropped': dropped.length || undefined,
});

/** Only a failure that is not the device's is an error of the span. */
export const messageSpanErrorOf = ({ failure }: EndedMessage): SpanError | undefined =>
  failure !== undefined && resultCodes[failure.code].fault !== 'device'
    ? { type: failure.code, message: failure.details }
    : undefined;

/** Undefined when there was no call. */
function rounded(backends: CallTimes): CallTimes | undefined {
  let own: CallTimes | undefined;
  for (const name in backends) {
    const times = backends[name as keyof CallTimes];
    if (times === undefined) continue;
    own ??= {};
    own[name as keyof CallTimes] = { calls: times.calls, attempts: times.attempts, ms: Math.round(times.ms) };
  }
  return own;
}
