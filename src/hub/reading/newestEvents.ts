import { within } from '../../concurrency/within.ts';

/** The hub's newest event of each partition, as of its last answer: the difference to what is read is the lag. */
export interface NewestEvents {
  /** Asks the hub about each of these partitions whose last question is long ago, and forgets all others. Never throws. */
  look(partitions: readonly string[]): void;
  /** Its sequence number; undefined before the first answer. */
  of(partition: string): number | undefined;
}

interface NewestEventsOptions {
  /** Asks the hub for the sequence number. */
  readonly newestOf: (partition: string) => Promise<number>;
  /** The longest that one answer may take. */
  readonly answerMs: number;
  couldNotAsk(partition: string, error: unknown): void;
}

/** Interval of the questions: the hub limits them, for all clients together. */
const everyMs = 30_000;

export function createNewestEvents({ newestOf, answerMs, couldNotAsk }: NewestEventsOptions): NewestEvents {
  const newest = new Map<string, number>();
  const askedAt = new Map<string, number>();
  /** Questions that the client has not settled. It may try for longer than we wait. */
  const open = new Set<string>();

  async function ask(partition: string): Promise<void> {
    open.add(partition);
    askedAt.set(partition, performance.now());
    const answer = newestOf(partition).finally(() => open.delete(partition));
    try {
      const found = await within(answer, answerMs);
      if (askedAt.has(partition)) newest.set(partition, found);
    } catch (error) {
      couldNotAsk(partition, error);
    }
  }

  const isDue = (partition: string) =>
    !open.has(partition) && performance.now() - (askedAt.get(partition) ?? Number.NEGATIVE_INFINITY) >= everyMs;

  return {
    look(partitions) {
      for (const partition of askedAt.keys()) {
        if (partitions.includes(partition)) continue;
        askedAt.delete(partition);
        newest.delete(partition);
      }
      for (const partition of partitions) if (isDue(partition)) void ask(partition);
    },
    of: (partition) => newest.get(partition),
  };
}
