import type { DeviceWork } from '../engine/order/deviceWork.ts';
import type { PartitionState } from '../hub/reading/partitionState.ts';
import { type DrainConditions, heldSteps } from './heldSteps.ts';

type WorkOfPartition = Pick<DeviceWork, 'steps'> & { readonly partition: string };
type PreviewedPartition = Pick<PartitionState, 'partition' | 'state' | 'inFlight' | 'sleeping' | 'waiting'> & {
  readonly checkpoint: Pick<PartitionState['checkpoint'], 'unwritten' | 'isFailing'>;
};

/** What a stop at this moment would find, and leave for the next reader. */
interface Counts {
  /** Messages whose handling has begun. */
  readonly inFlight: number;
  /** Those of them that do not end within the drain: the next reader handles them again. */
  readonly held: number;
  /** Read and not begun: the next reader reads them again, and handles them once. */
  readonly unstarted: number;
  /** What is left for the next reader. The line `partition.released` has this figure, too. */
  readonly unfinished: number;
  /** Replies of messages in flight that the hub has not taken yet. */
  readonly replies: number;
  /** Messages in flight that are being written as dead letters. */
  readonly parking: number;
  /** Done, and in no checkpoint: a stop writes one. */
  readonly unwritten: number;
  /** What the next reader does a second time: `held`, and `unwritten` while checkpoints cannot be written. */
  readonly repeated: number;
}

/** Only looks: a stop that follows may find something else. */
export function stopPreview(
  partitions: readonly PreviewedPartition[],
  works: readonly WorkOfPartition[],
  conditions: DrainConditions,
) {
  const held = heldSteps(
    works.flatMap(({ steps }) => steps),
    conditions,
  );
  const isHeld = ({ steps }: WorkOfPartition) => steps.some((step) => held.has(step));

  function countsOf({
    partition,
    inFlight,
    sleeping,
    waiting,
    checkpoint: { unwritten, isFailing },
  }: PreviewedPartition): Counts {
    const own = works.filter((work) => work.partition === partition);
    const steps = own.flatMap((work) => work.steps);
    const stuck = sleeping + own.filter(isHeld).length;
    return {
      inFlight,
      held: stuck,
      unstarted: waiting,
      unfinished: stuck + waiting,
      replies: steps.filter(({ kind }) => kind === 'reply').length,
      parking: steps.filter(({ kind }) => kind === 'parking').length,
      unwritten,
      repeated: stuck + (isFailing ? unwritten : 0),
    };
  }

  const each = partitions.map((one) => ({ partition: one.partition, state: one.state, ...countsOf(one) }));
  const total = sumOf(each);
  const causes = works.flatMap(({ steps }) => [...new Set(steps.flatMap((step) => held.get(step) ?? []))]);
  const waitsFor = [...new Set(causes)].map((what) => ({
    what,
    messages: causes.filter((cause) => cause === what).length,
  }));
  const sleeping = partitions.reduce((sum, one) => sum + one.sleeping, 0);
  if (sleeping > 0) waitsFor.push({ what: 'devices that do not fetch their replies', messages: sleeping });
  return {
    isSafe: total.repeated === 0,
    verdict: verdictOf(total, waitsFor, conditions.drainSeconds),
    /** A stop waits for nothing else than messages in flight, and not for those that sleep. */
    drainAtMostSeconds: total.inFlight > sleeping ? conditions.drainSeconds : 0,
    total,
    waitsFor,
    partitions: each,
  };
}

function sumOf(all: readonly Counts[]): Counts {
  const sum = (what: keyof Counts) => all.reduce((total, one) => total + one[what], 0);
  return {
    inFlight: sum('inFlight'),
    held: sum('held'),
    unstarted: sum('unstarted'),
    unfinished: sum('unfinished'),
    replies: sum('replies'),
    parking: sum('parking'),
    unwritten: sum('unwritten'),
    repeated: sum('repeated'),
  };
}

function verdictOf(
  { inFlight, held, unstarted, repeated }: Counts,
  waitsFor: readonly { readonly what: string }[],
  drainSeconds: number,
): string {
  const causes = waitsFor.map(({ what }) => what).join('; ');
  const undone = repeated - held;
  const ending = inFlight - held;
  const sentences = [
    repeated === 0
      ? 'Safe: as far as is known, nothing is repeated.'
      : `Not yet: ${messages(repeated)} would be repeated.`,
    ...(held > 0 ? [`${held} of ${messages(inFlight)} in flight cannot end, waiting for: ${causes}.`] : []),
    ...(undone > 0 ? [`Done, but in no checkpoint because none can be written: ${undone}.`] : []),
    ...(ending > 0 ? [`A stop gives ${messages(ending)} in flight up to ${drainSeconds} s to end.`] : []),
    ...(unstarted > 0 ? [`${messages(unstarted)} not begun would be left for the next reader.`] : []),
    ...(inFlight + unstarted === 0 ? ['Nothing is in flight, and nothing waits here.'] : []),
  ];
  return sentences.join(' ');
}

const messages = (count: number) => `${count} ${count === 1 ? 'message' : 'messages'}`;
