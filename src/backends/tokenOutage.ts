import type { Outage } from './circuit.ts';
import { type Health, probeUntilHealthy } from './healthProbe.ts';
import { policy } from './retryPolicy.ts';

/** The time in which the token endpoint gives no token. No message can cause it, so that one failure begins it. */
export interface TokenOutage {
  /** For operators: since when, and why; undefined outside of one. */
  now(): Outage | undefined;
  begin(failure: string): void;
  end(): void;
  /**
   * Undefined outside of one. Otherwise resolves with true when it is over, or with false when the service stops.
   * @param probe asks for a token; from now on it is called at growing intervals. Never rejects
   */
  untilOver(probe: () => Promise<Health>): Promise<boolean> | undefined;
  close(): void;
}

interface Current extends Outage {
  readonly ended: Promise<boolean>;
  readonly release: (isBack: boolean) => void;
  stopProbing: (() => void) | undefined;
}

/** @param onBegin called at the begin of each */
export function createTokenOutage(onBegin: () => void): TokenOutage {
  const { probeMs, maxProbeMs } = policy;
  let current: Current | undefined;
  let closed = false;

  function end(isBack: boolean) {
    current?.stopProbing?.();
    current?.release(isBack);
    current = undefined;
  }

  return {
    now: () => current && { since: current.since, failure: current.failure },
    begin(failure) {
      if (closed || current) return;
      let release: Current['release'] = () => {};
      const ended = new Promise<boolean>((resolve) => {
        release = resolve;
      });
      current = { since: performance.now(), failure, ended, release, stopProbing: undefined };
      onBegin();
    },
    end: () => end(true),
    untilOver(probe) {
      if (current === undefined) return undefined;
      current.stopProbing ??= probeUntilHealthy({ probe, probeMs, maxProbeMs, foundHealthy() {} }, 0);
      return current.ended;
    },
    close() {
      closed = true;
      end(false);
    },
  };
}
