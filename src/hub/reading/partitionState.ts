import type { PartitionContents } from '../../engine/partition/contents.ts';
import type { PartitionSession } from './session.ts';

/** What one partition session of this instance does, for operators. */
export interface PartitionState extends PartitionContents {
  readonly partition: string;
  readonly state: 'reading' | 'draining';
  readonly epoch: number;
  /** When the session began, as `performance.now()`. */
  readonly since: number;
  /** Sequence number of the last event read; -1 before the first. */
  readonly position: number;
  /** Events behind the newest one of the hub, as of its last answer; undefined before the first answer. */
  readonly lagEvents: number | undefined;
  /**
   * Age of the last event read while there are newer ones; 0 when there are none. Undefined before the first answer, and
   * while no event has been read.
   */
  readonly lagSeconds: number | undefined;
}

type Stated = Pick<PartitionSession, 'record' | 'since' | 'position' | 'enqueuedAt' | 'contents'>;

/** @param newest sequence number of the hub's newest event */
export function partitionStateOf(
  { record, since, position, enqueuedAt, contents }: Stated,
  state: PartitionState['state'],
  newest: number | undefined,
): PartitionState {
  const { partition, epoch } = record;
  const lagEvents = newest === undefined ? undefined : Math.max(0, newest - position());
  const lagSeconds = lagEvents === undefined || lagEvents === 0 ? lagEvents : ageOf(enqueuedAt());
  return { partition, state, epoch, since, position: position(), lagEvents, lagSeconds, ...contents() };
}

/** In seconds. The hub's clock and ours differ. */
const ageOf = (time: Date | undefined): number | undefined =>
  time === undefined ? undefined : Math.max(0, (Date.now() - time.getTime()) / 1000);
