/** Until when the former owners of partitions may still write dead letters (D281). */
export interface FormerOwners {
  /** A session of the partition begins. */
  replaced(partition: string): void;
  /**
   * When the last of them can write no more, as `performance.now()`; undefined without a session. Asked when the session
   * has handled a message: the hub sends none to a former owner any more.
   */
  silentFrom(partition: string): number | undefined;
}

/** More than it takes to park a message that a former owner had answered when it lost the partition. */
const parkingMs = 20_000;

export function createFormerOwners(): FormerOwners {
  /** Undefined until the first message has been handled. */
  const partitions = new Map<string, number | undefined>();

  return {
    replaced: (partition) => void partitions.set(partition, undefined),
    silentFrom(partition) {
      if (!partitions.has(partition)) return undefined;
      const silent = partitions.get(partition) ?? performance.now() + parkingMs;
      partitions.set(partition, silent);
      return silent;
    },
  };
}
