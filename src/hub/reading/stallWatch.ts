import type { PartitionSession } from './session.ts';

/** Detects that events do not arrive although the client reports no error, as after a failover of the hub. */
export interface StallWatch {
  /** Checks all sessions; never rejects. */
  look(sessions: readonly PartitionSession[]): Promise<void>;
}

export interface StallWatchOptions {
  /** Newest sequence number of the partition at the hub. */
  newestOf(partition: string): Promise<number>;
  /** The hub has events that do not come. */
  stalled(partitions: readonly string[]): void;
  /** No event from any partition: devices may send nothing, or the address of the hub may have changed. */
  idle(): void;
  couldNotAsk(error: unknown): void;
}

/** The hub is asked after this time without events, and not more often. */
const askAfterMs = 60_000;
const idleAfterMs = 5 * 60_000;

export function createStallWatch({ newestOf, stalled, idle, couldNotAsk }: StallWatchOptions): StallWatch {
  let askedAt = Number.NEGATIVE_INFINITY;

  const isBehind = async ({ record, position }: PartitionSession) => (await newestOf(record.partition)) > position();

  return {
    async look(sessions) {
      if (sessions.length > 0 && sessions.every(({ reader }) => reader.quiet().eventlessMs > idleAfterMs)) {
        idle();
        return;
      }
      const quiet = sessions.filter(({ reader }) => reader.quiet().eventlessMs > askAfterMs);
      if (quiet.length === 0 || performance.now() - askedAt < askAfterMs) return;
      askedAt = performance.now();
      try {
        const behind = await Promise.all(quiet.map(isBehind));
        // Without those whose events arrived in the meantime.
        const late = quiet.filter(({ reader }, index) => behind[index] && reader.quiet().eventlessMs > askAfterMs);
        if (late.length > 0) stalled(late.map(({ record }) => record.partition));
      } catch (error) {
        couldNotAsk(error);
      }
    },
  };
}
