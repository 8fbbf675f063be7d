/** The ids of all partitions of the hub, as they were last counted. Their number can grow while the service runs. */
export interface PartitionIds {
  all(): readonly string[];
  /** Counts when that is due. Waits for the answer, and rejects without one, only while no partition is known. */
  look(): Promise<void>;
}

interface PartitionIdsOptions {
  /** Asks the hub. */
  readonly ask: () => Promise<readonly string[]>;
  counted(): void;
  /** The last count is used. */
  notCounted(error: unknown): void;
}

const everyMs = 5 * 60_000;

export function createPartitionIds({ ask, counted, notCounted }: PartitionIdsOptions): PartitionIds {
  let ids: readonly string[] = [];
  let countedAt = 0;

  async function count(): Promise<void> {
    countedAt = performance.now();
    ids = await ask();
    counted();
  }

  return {
    all: () => ids,
    async look() {
      if (ids.length === 0) await count();
      else if (performance.now() - countedAt > everyMs) void count().catch(notCounted);
    },
  };
}
