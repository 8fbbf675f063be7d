import type { Arrival } from '../protocol/arrival.ts';
import type { Envelope } from '../protocol/envelope.ts';
import type { Tell } from '../tap/taps.ts';
import type { Course } from './handledLine.ts';
import type { Answered, Handled } from './respond.ts';

/** What those who follow a device are told about the handling of a message. */

export function tellBegun(
  tell: Tell,
  { redelivered, attempts = 0, generation }: Arrival,
  { name, correlationId, ack }: Envelope,
  { traceId, waits }: Pick<Course, 'traceId' | 'waits'>,
): void {
  tell('begun', {
    message: name,
    generation,
    correlationId,
    traceId,
    ack,
    laneWaitMs: waits && Math.round(waits.laneMs),
    redelivered,
    parkedBefore: attempts,
  });
}

export function tellHandled(
  tell: Tell,
  { envelope, outcome }: Handled,
  { failure, sent, dropped }: Answered,
  { ms, repliesMs, backends }: Pick<Course, 'ms' | 'repliesMs' | 'backends'>,
): void {
  const result = { code: failure?.code ?? 'ok', details: failure?.details, ack: envelope.ack };
  tell('handled', {
    ...result,
    ms: Math.round(ms),
    repliesMs: Math.round(repliesMs),
    replies: sent,
    dropped: dropped.length > 0 ? dropped : undefined,
    backends,
    remarks: outcome?.remarks?.length ? outcome.remarks : undefined,
  });
}
