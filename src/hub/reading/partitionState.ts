import type { PartitionContents } from '../../engine/partition/contents.ts';
import type { HubAnswer } from './newestEvents.ts';
import type { PartitionSession } from './session.ts';

/** What one partition session of this instance does, for operators. */
export interface PartitionState extends Omit<PartitionContents, 'undoneSince'>, Behind {
  readonly partition: string;
  readonly state: 'reading' | 'draining';
  readonly epoch: number;
  /** When the session began, as `performance.now()`. */
  readonly since: number;
  /** Sequence number of the last event read; -1 before the first. */
  readonly position: number;
}

/** How far a partition is behind: one figure, and how old it is (D310). */
interface Behind {
  /**
   * Age of the oldest event that is not done, read or not; 0 when the last one is done. Null while the hub does not answer,
   * and while all that was read is done, more is there, and its age is not known yet.
   */
  readonly behindSeconds: number | null;
  /** When the hub last answered about the partition, as `performance.now()`; undefined before the first time. */
  readonly asOf: number | undefined;
}

/** What the hub has said of a partition that is read. */
export interface HubSays {
  readonly answer: HubAnswer | undefined;
  /** The hub delivers, and has answered the last question about the partition. */
  readonly isAnswering: boolean;
}

type StatedSession = Pick<PartitionSession, 'record' | 'since' | 'position' | 'contents'>;

export function partitionStateOf(
  { record, since, position: positionOf, contents }: StatedSession,
  state: PartitionState['state'],
  said: HubSays,
): PartitionState {
  const { partition, epoch } = record;
  const position = positionOf();
  const { undoneSince, ...rest } = contents();
  return { partition, state, epoch, since, position, ...behindOf({ ...said, undoneSince, position }), ...rest };
}

interface Known extends HubSays {
  /** When the hub received the oldest event that is known not to be done, as `performance.now()`. */
  readonly undoneSince: number | undefined;
  /** All events up to this sequence number are done, apart from those that `undoneSince` is about. */
  readonly position: number;
}

export function behindOf({ answer, isAnswering, undoneSince, position }: Known): Behind {
  const known = { asOf: answer?.at };
  if (!isAnswering) return { ...known, behindSeconds: null };
  if (undoneSince !== undefined) return { ...known, behindSeconds: (performance.now() - undoneSince) / 1000 };
  return { ...known, behindSeconds: answer !== undefined && answer.newest <= position ? 0 : null };
}
