import type { PartitionContents } from '../../engine/partition/contents.ts';
import { type Behind, behindOf, type HubAnswer } from './behind.ts';
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

type StatedSession = Pick<PartitionSession, 'record' | 'since' | 'position' | 'contents'>;

export function partitionStateOf(
  { record, since, position: positionOf, contents }: StatedSession,
  state: PartitionState['state'],
  known: { readonly answer: HubAnswer | undefined; readonly isAnswering: boolean },
): PartitionState {
  const { partition, epoch } = record;
  const position = positionOf();
  const { undoneSince, ...rest } = contents();
  return { partition, state, epoch, since, position, ...behindOf({ ...known, undoneSince, position }), ...rest };
}
