import type { CallTimes } from '../backends/call.ts';
import { timeOfDay } from '../concurrency/clocks.ts';
import type { Log } from '../log/log.ts';
import type { Arrival } from '../protocol/arrival.ts';
import { firstOf } from '../protocol/details.ts';
import type { HubEvent } from '../protocol/event.ts';
import type { Answered, Handled } from './respond.ts';

/** When and where a message was handled. */
export interface Course {
  readonly traceId: string;
  /** Undefined for a dead letter. */
  readonly waits: Waits | undefined;
  /** Duration of the handling without replies. */
  readonly ms: number;
  readonly repliesMs: number;
  readonly backends: CallTimes;
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

/** The one log line of a handled message (G5, D91). */
export function writeHandled(
  log: Log,
  { event, origin }: Arrival,
  { envelope, outcome }: Handled,
  { failure, sent, dropped }: Answered,
  { traceId, waits, ms, repliesMs, backends }: Course,
): void {
  const remarks = outcome?.remarks ?? [];
  const isAlarming = dropped.length > 0 || failure?.code === 'internal_platform_error';
  log[isAlarming ? 'warn' : 'info'](
    {
      device: envelope.deviceId,
      message: envelope.name?.slice(0, 128),
      code: failure?.code ?? 'ok',
      ...(failure && { details: failure.details }),
      correlationId: envelope.correlationId?.slice(0, 128),
      traceId,
      ack: envelope.ack,
      partition: origin.partition,
      sequenceNumber: event.sequenceNumber,
      hubWaitMs: waits?.hubMs,
      laneWaitMs: waits && Math.round(waits.laneMs),
      ms: Math.round(ms),
      backends: rounded(backends),
      replies: sent,
      repliesMs: sent + dropped.length > 0 ? Math.round(repliesMs) : undefined,
      ...(dropped.length > 0 && { dropped: dropped.slice(0, 10), droppedReplies: dropped.length }),
      ...(remarks.length > 0 && { remarks: firstOf(remarks) }),
    },
    'handled',
  );
}

/** Undefined when there was no call. */
function rounded(backends: CallTimes): CallTimes | undefined {
  let own: CallTimes | undefined;
  for (const name in backends) {
    const times = backends[name];
    if (times === undefined) continue;
    times.ms = Math.round(times.ms);
    own = backends;
  }
  return own;
}
