/**
 * The suspects in work in the whole process. Which of them is alone there is noted, because only that one can be parked
 * (G4). Nobody else begins before the store has taken the note that it is alone no longer.
 */
export interface SuspectsInWork {
  /** From now on the partition's suspects count, until the returned function is called. */
  join(partition: PartitionSuspects): () => void;
  /** Suspects in work. */
  count(): number;
  /**
   * Lets suspects begin, those of one partition at a time, and after a suspect that is alone has had some time.
   * @param isAlone nobody begins when another is in work by then: other partitions are in the line, too (D322)
   * @param begin told whether no other is in work; resolves when what begins has been noted
   */
  enter(partition: PartitionSuspects, isAlone: boolean, begin: (isFirst: boolean) => Promise<void>): Promise<void>;
  /** A suspect of the partition has ended. */
  left(partition: PartitionSuspects): void;
}

/** The suspects of one partition. */
export interface PartitionSuspects {
  inWork(): number;
  /** Notes that its only suspect in work is alone in the process, or is it no longer; resolves when the store has taken it. */
  note(isAlone: boolean): Promise<void>;
  /** Others have ended. */
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
  /** Whose suspect is noted as alone. */
  let lone: Lone | undefined;
  let line = Promise.resolve();

  const count = () => [...partitions].reduce((sum, partition) => sum + partition.inWork(), 0);

  function inLine(work: () => Promise<void>): Promise<void> {
    line = line.then(work);
    return line;
  }

  const loneOf = (partition: PartitionSuspects): Lone => ({ partition, since: performance.now(), ended() {} });

  /** When it has had its time, or has ended. */
  async function waitForLone() {
    const one = lone;
    if (one === undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, one.since + patienceMs - performance.now());
      one.ended = () => resolve(clearTimeout(timer));
    });
    if (lone !== one) return;
    await one.partition.note(false);
    lone = undefined;
  }

  async function noteWhoIsLeft() {
    if (lone !== undefined || count() !== 1) return;
    const [last] = [...partitions].filter((partition) => partition.inWork() > 0);
    if (last === undefined) return;
    lone = loneOf(last);
    await last.note(true);
  }

  function left(partition: PartitionSuspects) {
    if (lone?.partition === partition) {
      lone.ended();
      lone = undefined;
    }
    if (count() === 1) void inLine(noteWhoIsLeft);
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
        if (isFirst && count() === 1 && partition.inWork() === 1) lone = loneOf(partition);
      }),
    left,
  };
}
