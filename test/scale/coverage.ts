/** How long each partition has had no reader, and how far behind the work was: looked at again and again. */
export interface Coverage {
  look(): void;
  /** Seconds without a reader, of each partition. */
  unread(): readonly number[];
  /** The most, in seconds. */
  mostBehind(): number;
  /** When the work was last further behind than in a quiet time, in milliseconds; undefined when it never was. */
  lastBehindAt(): number | undefined;
}

interface CoverageOptions {
  readonly partitions: readonly string[];
  readonly isRead: (partition: string) => boolean;
  readonly behindSeconds: () => number;
  readonly now: () => number;
}

/** In a quiet time, the oldest message that is not handled is younger. */
const quietSeconds = 2;

export function createCoverage({ partitions, isRead, behindSeconds, now }: CoverageOptions): Coverage {
  const unreadMs = new Map(partitions.map((id) => [id, 0]));
  let lookedAt = now();
  let mostBehind = 0;
  let lastBehindAt: number | undefined;

  return {
    look() {
      const passedMs = now() - lookedAt;
      lookedAt = now();
      for (const id of partitions) if (!isRead(id)) unreadMs.set(id, (unreadMs.get(id) ?? 0) + passedMs);
      const behind = behindSeconds();
      mostBehind = Math.max(mostBehind, behind);
      if (behind > quietSeconds) lastBehindAt = now();
    },
    unread: () => [...unreadMs.values()].map((ms) => ms / 1000),
    mostBehind: () => mostBehind,
    lastBehindAt: () => lastBehindAt,
  };
}
