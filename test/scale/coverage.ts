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

/** What happens, second by second. */
export interface Counts {
  count(): void;
  /** How many in each second from one to another time, in milliseconds. */
  between(fromMs: number, toMs: number): number[];
  /** How many in this second, without those that the other has counted in it. */
  inSecond(without?: Counts): number;
}

export function createCounts(now: () => number): Counts {
  const seconds: number[] = [];
  const at = (ms: number) => Math.floor(ms / 1000);
  const inSecond = () => seconds[at(now())] ?? 0;
  return {
    count() {
      seconds[at(now())] = inSecond() + 1;
    },
    between: (fromMs, toMs) =>
      Array.from({ length: Math.max(1, at(toMs) - at(fromMs)) }, (_, index) => seconds[at(fromMs) + index] ?? 0),
    inSecond: (without) => inSecond() - (without?.inSecond() ?? 0),
  };
}
