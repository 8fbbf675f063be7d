import type { IdleRules } from '../../limits/idle.ts';
import { type Link, takesRequests } from '../../network/connections.ts';

/** Notices that a connection has no links. */
export interface IdleConnection {
  /** A link was attached. Those of `$cbs` and `$management` do not count. */
  attached(link: Link): void;
  /** The connection is gone. */
  end(): void;
}

/** Calls `close` when a connection has had no links for so many milliseconds. */
export function watchIdleConnection(
  { unusedConnection, abandonedConnection }: IdleRules,
  close: (idleMs: number) => void,
): IdleConnection {
  let links = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const wait = (ms: number): void => {
    timer = setTimeout(close, ms, ms).unref();
  };
  wait(unusedConnection);
  return {
    attached(link) {
      if (takesRequests(link.path)) return;
      links += 1;
      clearTimeout(timer);
      link.onEnd(() => {
        links -= 1;
        if (links === 0 && !isOver) wait(abandonedConnection);
      });
    },
    end() {
      isOver = true; // its links end after it
      clearTimeout(timer);
    },
  };
}
