import type { VirtualTime } from './virtualTime.ts';

/** The messages of a partition: which were handled, how often, and which are still to be handled. */
interface PartitionWork {
  readonly sentAt: number[];
  readonly handled: number[];
  /** All before this one are handled. */
  done: number;
  /** The newest that was handled, of each device. */
  readonly newestOf: Map<string, number>;
}

/** What has become of the messages, from all that processes have done. */
export interface WorkRecord {
  sent(partition: string): void;
  /** A message of ours takes effect. */
  handled(partition: string, device: string, sequenceNumber: number): void;
  /** A message is parked. */
  parked(partition: string, sequenceNumber: number): void;
  /** Seconds since the oldest message that is not handled was sent; 0 when all are. */
  behindSeconds(): number;
  total(): WorkTotal;
}

export interface WorkTotal {
  readonly sent: number;
  /** Messages that were never handled nor parked. */
  readonly lost: number;
  readonly parked: number;
  /** Times that a message was handled again. */
  readonly repeats: number;
  /** The most of them in a partition. */
  readonly mostRepeats: number;
  /** First handlings behind a later message of the same device. */
  readonly inversions: number;
}

export function createWorkRecord(time: VirtualTime, partitions: readonly string[]): WorkRecord {
  const all = new Map<string, PartitionWork>(
    partitions.map((id) => [id, { sentAt: [], handled: [], done: 0, newestOf: new Map() }]),
  );
  const parkedMarks = new Set<string>();
  let inversions = 0;

  const workOf = (partition: string): PartitionWork => {
    const work = all.get(partition);
    if (work === undefined) throw new Error(`there is no partition ${partition}`);
    return work;
  };

  function count(work: PartitionWork, sequenceNumber: number) {
    work.handled[sequenceNumber] = (work.handled[sequenceNumber] ?? 0) + 1;
    while ((work.handled[work.done] ?? 0) > 0) work.done += 1;
  }

  return {
    sent(partition) {
      const work = workOf(partition);
      work.sentAt.push(time.now());
      work.handled.push(0);
    },
    handled(partition, device, sequenceNumber) {
      const work = workOf(partition);
      const newest = work.newestOf.get(device) ?? -1;
      if (work.handled[sequenceNumber] === 0 && sequenceNumber < newest) inversions += 1;
      work.newestOf.set(device, Math.max(newest, sequenceNumber));
      count(work, sequenceNumber);
    },
    parked(partition, sequenceNumber) {
      parkedMarks.add(`${partition}:${sequenceNumber}`);
      count(workOf(partition), sequenceNumber);
    },
    behindSeconds() {
      let since = time.now();
      for (const { sentAt, done } of all.values()) since = Math.min(since, sentAt[done] ?? since);
      return (time.now() - since) / 1000;
    },
    total() {
      const works = [...all.values()];
      const sum = (of: (work: PartitionWork) => number) => works.reduce((total, work) => total + of(work), 0);
      const repeatsOf = ({ handled }: PartitionWork) =>
        handled.reduce((total, times) => total + Math.max(0, times - 1), 0);
      return {
        sent: sum(({ sentAt }) => sentAt.length),
        lost: sum(({ handled }) => handled.filter((times) => times === 0).length),
        parked: parkedMarks.size,
        repeats: sum(repeatsOf),
        mostRepeats: Math.max(...works.map(repeatsOf)),
        inversions,
      };
    },
  };
}
