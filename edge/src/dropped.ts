import type { Log } from './log.ts';

/** Why a message of a module is not a reply to anybody (M11). */
export type DropReason = 'unknown' | 'retained';

/** Counts what is dropped, and says so in the log, at most once a minute for each module and reason. */
export interface Dropped {
  count(moduleId: string, reason: DropReason): void;
  close(): void;
}

const againMs = 60_000;

const sentences: Readonly<Record<DropReason, string>> = {
  unknown: 'replies dropped: late, a second time, or to a request that this module does not have',
  retained: 'replies dropped: retained, so meant for nobody who waits now',
};

export function createDropped(log: Log): Dropped {
  const counts = new Map<string, { count: number; timer: NodeJS.Timeout }>();

  function say(moduleId: string, reason: DropReason, count: number) {
    log.warn({ module: moduleId, count }, sentences[reason]);
  }

  return {
    count(moduleId, reason) {
      const key = `${reason} ${moduleId}`;
      const known = counts.get(key);
      if (known) {
        known.count += 1;
        return;
      }
      say(moduleId, reason, 1);
      const timer = setTimeout(() => {
        const since = counts.get(key)?.count ?? 0;
        counts.delete(key);
        if (since > 0) say(moduleId, reason, since);
      }, againMs).unref();
      counts.set(key, { count: 0, timer });
    },
    close() {
      for (const { timer } of counts.values()) clearTimeout(timer);
      counts.clear();
    },
  };
}
