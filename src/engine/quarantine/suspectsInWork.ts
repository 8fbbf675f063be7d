/**
 * The suspects in work in the whole process. The crash record says which of them is alone in the process, because only that
 * one can be parked (G4). No other suspect begins before the store has taken a record without it.
 */
export interface SuspectsInWork {
  /** From now on the partition's suspects count, until the returned function is called. */
  join(partition: PartitionSuspects): () => void;
  /** Suspects in work. */
  count(): number;
  /**
   * Lets suspects begin, one partition at a time, and only after a suspect that is alone has had some time.
   * @param isAlone nothing begins when another suspect is in work by then: other partitions wait here, too (D30)
   * @param begin is told whether no other suspect is in work; resolves when the crash record is stored
   */
  enter(partition: PartitionSuspects, isAlone: boolean, begin: (isFirst: boolean) => Promise<void>): Promise<void>;
  /** A suspect of the partition has ended. */
  left(partition: PartitionSuspects): void;
}

/** The suspects of one partition. */
export interface PartitionSuspects {
  inWork(): number;
  /** Records whether its only suspect in work is alone in the process; resolves when the store has taken the record. */
  recordAlone(isAlone: boolean): Promise<void>;
  /** Suspects of other partitions have ended. */
  changed(): void;
}

/** How long others wait for suspects, in milliseconds: an ordinary message takes a fraction of it. */
export const patienceMs = 1_000;

interface Lone {
  readonly partition: PartitionSuspects;
  readonly since: number;
  /** Called when it has ended. */
  ended(): void;
}

export function createSuspectsInWork(): SuspectsInWork {
  const partitions = new Set<PartitionSuspects>();
  /** The partition whose suspect is recorded as alone. */
  let lone: Lone | undefined;
  let line = Promise.resolve();

  const count = () => [...partitions].reduce((sum, partition) => sum + partition.inWork(), 0);

  function inLine(work: () => Promise<void>): Promise<void> {
    line = line.then(work);
    return line;
  }

  const loneOf = (partition: PartitionSuspects): Lone => ({ partition, since: performance.now(), ended() {} });

  /** Resolves when the suspect that is alone has had its time, or has ended. */
  async function waitForLone() {
    const one = lone;
    if (one === undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, one.since + patienceMs - performance.now());
      one.ended = () => resolve(clearTimeout(timer));
    });
    if (lone !== one) return;
    await one.partition.recordAlone(false);
    lone = undefined;
  }

  async function recordWhoIsLeft() {
    if (lone !== undefined || count() !== 1) return;
    const [last] = [...partitions].filter((partition) => partition.inWork() > 0);
    if (last === undefined) return;
    lone = loneOf(last);
    await last.recordAlone(true);
  }

  function left(partition: PartitionSuspects) {
    if (lone?.partition === partition) {
      lone.ended();
      lone = undefined;
    }
    if (count() === 1) void inLine(recordWhoIsLeft);
    for (const other of partitions) other.changed();
  }

  return {
    count,
    join(partition) {
      partitions.add(partition);
      return () => {
        partitions.delete(partition);
        left(partition);
      };
    },
    enter: (partition, isAlone, begin) =>
      inLine(async () => {
        if (isAlone && count() > 0) return;
        await waitForLone();
        const isFirst = count() === 0;
        await begin(isFirst);
        if (isFirst && count() === 1) lone = loneOf(partition);
      }),
    left,
  };
}
