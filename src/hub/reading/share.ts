import type { Decision } from './balance.ts';
import type { SeenOwnership } from './ownerships.ts';
import type { SessionState } from './sessionLife.ts';

/** What this instance owns by a decision, and what of it is not read. */
export interface Share {
  /** With those that are to be claimed. */
  readonly owned: readonly string[];
  /** Owned already and without a session: to be opened. */
  readonly unopened: ReadonlySet<string>;
  /** Something that is owned already is not read, and not because the hub refuses it. */
  readonly isIncomplete: boolean;
}

/**
 * @param stateOf undefined for a partition without a session
 * @param isRefused whether the hub has refused to be read there
 */
export function shareOf(
  { renew, claim }: Pick<Decision, 'renew' | 'claim'>,
  stateOf: (partition: string) => SessionState | undefined,
  isRefused: (partition: string) => boolean,
): Share {
  const own = renew.map(({ partition }) => partition);
  const isUnread = (state: SessionState | undefined) => state === undefined || state === 'opening';
  return {
    owned: [...own, ...claim],
    unopened: new Set(own.filter((partition) => stateOf(partition) === undefined)),
    isIncomplete: own.some((partition) => isUnread(stateOf(partition)) && !isRefused(partition)),
  };
}

/** Whether other instances read all partitions, so that this one has nothing to do. */
export function isAllElsewhere(
  { renew, claim }: Pick<Decision, 'renew' | 'claim'>,
  partitions: readonly string[],
  records: readonly Pick<SeenOwnership, 'partition'>[],
): boolean {
  const recorded = new Set(records.map(({ partition }) => partition));
  return renew.length === 0 && claim.length === 0 && partitions.every((partition) => recorded.has(partition));
}
