import type { CallTimes } from '../backends/call.ts';
import type { Log } from '../log/log.ts';
import { firstOf } from '../protocol/details.ts';
import type { Arrival } from './dispatch.ts';
import type { Answered, Handled } from './respond.ts';

/** When and where a message was handled. */
export interface Course {
  readonly traceId: string;
  /** When it was read from the hub, in ms since 1970; undefined for a dead letter. */
  readonly readAt: number | undefined;
  /** When its handling began, in ms since 1970. */
  readonly begunAt: number;
  /** Duration of the handling without replies. */
  readonly ms: number;
  readonly repliesMs: number;
  readonly backends: CallTimes;
}

/** The one log line of a handled message (G5, D91). */
export function writeHandled(
  log: Log,
  { event, origin }: Arrival,
  { envelope, outcome }: Handled,
  { failure, sent, dropped }: Answered,
  { traceId, readAt, begunAt, ms, repliesMs, backends }: Course,
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
      hubWaitMs: readAt === undefined ? undefined : atLeastZero(readAt - event.enqueuedTimeUtc.getTime()),
      laneWaitMs: readAt === undefined ? undefined : atLeastZero(begunAt - readAt),
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

/** The hub's clock and ours differ, and ours can be set back. */
const atLeastZero = (ms: number): number => (ms > 0 ? ms : 0);

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
