import { performance } from 'node:perf_hooks';

interface AdaptiveLimitOptions {
  readonly least: number;
  readonly most: number;
  /** How many messages in flight wait for others in flight to end: further ones would only join them. */
  inLine(): number;
  /** Starts a measurement; the returned function says which share of the time since then the event loop was busy. */
  measure?(): () => number;
}

const windowMs = 100;

/** Below the first share of the time there are more messages, above the second fewer. */
const shares = { spare: 0.95, busy: 0.98 };
const factors = { more: 1.5, fewer: 0.9 };
/** Beyond this share in line there are no more messages. */
const lineShare = 0.5;

function measureLoop(): () => number {
  const before = performance.eventLoopUtilization();
  return () => performance.eventLoopUtilization(before).utilization;
}

export type AdaptiveLimit = ReturnType<typeof createAdaptiveLimit>;

/**
 * How many messages may be in flight at the moment: few while they keep the event loop busy, because more would only grow
 * old in memory; up to the limit while it has time to spare, because then they wait for backends and the hub (D163).
 */
export function createAdaptiveLimit({ least, most, inLine, measure = measureLoop }: AdaptiveLimitOptions) {
  let messages = Math.min(least, most);
  let isMeasuring = false;

  function adjust(busy: number) {
    const isInLine = inLine() > messages * lineShare;
    if (busy < shares.spare && !isInLine) messages = Math.min(most, Math.ceil(messages * factors.more));
    else if (busy > shares.busy) messages = Math.max(Math.min(least, most), Math.floor(messages * factors.fewer));
  }

  return {
    messages: () => messages,
    /** A message waits because the limit is reached. @param changed called a little later, once, when the number may have changed */
    reached(changed: () => void) {
      if (isMeasuring) return;
      isMeasuring = true;
      const busy = measure();
      setTimeout(() => {
        isMeasuring = false;
        adjust(busy());
        changed();
      }, windowMs).unref();
    },
  };
}
