import type { PartitionSession } from './session.ts';

/** Notices that nothing comes although the client reports that it is alive: links die, and hubs fail over, without a word. */
export interface StallWatch {
  /** Looks at all that is read; never rejects. */
  look(sessions: readonly PartitionSession[]): Promise<void>;
}

export interface QuietOptions {
  /** Newest sequence number that the hub has of a partition. */
  newestOf(partition: string): Promise<number>;
  /** The hub has events that do not come. */
  stalled(partitions: readonly string[]): void;
  /** Nothing has come from any partition: perhaps nothing happens, perhaps the hub is to be found elsewhere by now. */
  idle(): void;
  couldNotAsk(error: unknown): void;
}

/** From when on the hub is asked, and how often at most. */
const askAfterMs = 60_000;
const idleAfterMs = 5 * 60_000;

export function createStallWatch({ newestOf, stalled, idle, couldNotAsk }: QuietOptions): StallWatch {
  let askedAt = Number.NEGATIVE_INFINITY;

  const isBehind = async ({ record, position }: PartitionSession) => (await newestOf(record.partition)) > position();

  return {
    async look(sessions) {
      if (sessions.length > 0 && sessions.every(({ reader }) => reader.eventlessForMs() > idleAfterMs)) {
        idle();
        return;
      }
      const quiet = sessions.filter(({ reader }) => reader.eventlessForMs() > askAfterMs);
      if (quiet.length === 0 || performance.now() - askedAt < askAfterMs) return;
      askedAt = performance.now();
      try {
        const behind = await Promise.all(quiet.map(isBehind));
        // What has come while the hub was asked has not been held back.
        const late = quiet.filter(({ reader }, index) => behind[index] && reader.eventlessForMs() > askAfterMs);
        if (late.length > 0) stalled(late.map(({ record }) => record.partition));
      } catch (error) {
        couldNotAsk(error);
      }
    },
  };
}
