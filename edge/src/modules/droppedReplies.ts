import type { Meter } from '../metrics/metrics.ts';
import type { LogText } from '../operations/events.ts';
import type { Log } from '../operations/log.ts';

export type DropReason = 'unknown' | 'retained';

/** Counts the replies that match no pending request (M11); logs at most one line per minute, module and reason. */
export interface DroppedReplies {
  count(moduleId: string, reason: DropReason): void;
  close(): void;
}

const intervalMs = 60_000;

const messages: Readonly<Record<DropReason, LogText<'warn'>>> = {
  unknown: 'replies dropped: late, repeated, or to a request that this module did not get',
  retained: 'replies dropped: retained at the broker from an earlier time',
};

export function createDroppedReplies(log: Log, meter: Meter): DroppedReplies {
  const countDropped = meter.counter('device_messaging.edge.replies.dropped');
  const counts = new Map<string, { count: number; timer: NodeJS.Timeout }>();

  function write(moduleId: string, reason: DropReason, count: number) {
    log.warn({ module: moduleId, count }, messages[reason]);
  }

  return {
    count(moduleId, reason) {
      countDropped(moduleId, reason);
      const key = `${reason} ${moduleId}`;
      const known = counts.get(key);
      if (known) {
        known.count += 1;
        return;
      }
      write(moduleId, reason, 1);
      const timer = setTimeout(() => {
        const count = counts.get(key)?.count ?? 0;
        counts.delete(key);
        if (count > 0) write(moduleId, reason, count);
      }, intervalMs).unref();
      counts.set(key, { count: 0, timer });
    },
    close() {
      for (const { timer } of counts.values()) clearTimeout(timer);
      counts.clear();
    },
  };
}
