import { TooLate, within } from '../../concurrency/waiting.ts';

/** What the hub has said about a partition. */
export interface HubAnswer {
  /** Sequence number of its newest event; -1 when it has none. */
  readonly newest: number;
  /** As `performance.now()`. */
  readonly at: number;
}

/** The hub's newest event of each partition, as of its last answer (facts reading.partition-info, reading.questions). */
export interface NewestEvents {
  /** Asks the hub about each of these partitions for which that is due, and forgets all others. Never throws. */
  look(partitions: readonly string[]): void;
  /** The last answer; undefined before the first. */
  of(partition: string): HubAnswer | undefined;
  /** Whether the last question has failed. */
  hasFailed(partition: string): boolean;
  /** Milliseconds since the first of the questions that the hub has left without any answer; undefined when it answers. */
  silentMs(partition: string): number | undefined;
}

interface NewestEventsOptions {
  /** Asks the hub for the sequence number. */
  readonly newestOf: (partition: string) => Promise<number>;
  /** Interval of the questions while the hub answers: it limits them, for all clients together. */
  readonly everyMs: number;
  /** The longest that one answer may take. */
  readonly answerMs: number;
  couldNotAsk(partition: string, error: unknown): void;
}

/** What is known of one partition. */
interface PartitionQuery {
  at: number;
  isOpen: boolean;
  answer: HubAnswer | undefined;
  hasFailed: boolean;
  silentSince: number | undefined;
}

export function createNewestEvents(options: NewestEventsOptions): NewestEvents {
  const { newestOf, everyMs, answerMs, couldNotAsk } = options;
  const asked = new Map<string, PartitionQuery>();

  async function ask(partition: string, one: PartitionQuery): Promise<void> {
    one.at = performance.now();
    one.isOpen = true;
    try {
      const newest = await within(newestOf(partition), answerMs);
      one.answer = { newest, at: performance.now() };
      one.hasFailed = false;
      one.silentSince = undefined;
    } catch (error) {
      one.hasFailed = true;
      one.silentSince = error instanceof TooLate ? (one.silentSince ?? one.at) : undefined;
      couldNotAsk(partition, error);
    } finally {
      one.isOpen = false;
    }
  }

  /** After a failure it asks again in the next round, so that the end of an outage shows soon. */
  const isDue = ({ isOpen, hasFailed, at }: PartitionQuery) =>
    !isOpen && (hasFailed || performance.now() - at >= everyMs);

  const unasked = (): PartitionQuery => ({
    ...{ at: Number.NEGATIVE_INFINITY, isOpen: false, hasFailed: false },
    ...{ answer: undefined, silentSince: undefined },
  });

  return {
    look(partitions) {
      for (const partition of asked.keys()) if (!partitions.includes(partition)) asked.delete(partition);
      for (const partition of partitions) {
        const one = asked.get(partition) ?? unasked();
        asked.set(partition, one);
        if (isDue(one)) void ask(partition, one);
      }
    },
    of: (partition) => asked.get(partition)?.answer,
    hasFailed: (partition) => asked.get(partition)?.hasFailed ?? false,
    silentMs(partition) {
      const since = asked.get(partition)?.silentSince;
      return since === undefined ? undefined : performance.now() - since;
    },
  };
}
