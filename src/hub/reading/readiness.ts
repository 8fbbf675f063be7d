import type { ReadingDiagnosis } from '../../observing/diagnosis.ts';
import type { QuietTimes } from './quiet.ts';
import { wholeHub } from './readingTroubles.ts';
import type { LastRound } from './rounds.ts';

interface Readings {
  /** Whether the hub delivers events of the partition, or has recently confirmed that there are none. */
  isHeard(partition: string): boolean;
  /** Whether its session ends: it need not be heard any more. */
  isEnding(partition: string): boolean;
  /** Of a partition, or of the whole hub. */
  troubleOf(place: string): ReadingDiagnosis | undefined;
}

/**
 * For an operator: a text for each owned partition from which the hub delivers nothing, or one that says that there is
 * no partition to read; for what cannot be read because of the checkpoint store, one that says why. Empty when other
 * instances read all partitions.
 */
export function missingOf(
  { owned, isAllElsewhere, storeTrouble }: Pick<LastRound, 'owned' | 'isAllElsewhere' | 'storeTrouble'>,
  { isHeard, isEnding, troubleOf }: Readings,
): string[] {
  if (isAllElsewhere) return [];
  const ofStore = storeTrouble && `the checkpoint store: ${storeTrouble.storeSaid} (${storeTrouble.setting})`;
  if (owned.length === 0) {
    if (ofStore) return [ofStore];
    const trouble = troubleOf(wholeHub);
    return [`a partition of the hub to read${trouble ? `: ${why(trouble)}` : ''}`];
  }
  return owned
    .filter((partition) => !isEnding(partition) && !isHeard(partition))
    .toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }))
    .map((partition) => {
      const trouble = troubleOf(partition);
      return `partition ${partition} of the hub: ${trouble ? why(trouble) : (ofStore ?? 'no sign of life yet')}`;
    });
}

const why = ({ hubSaid, setting, todo }: ReadingDiagnosis) => `${hubSaid} (${setting ?? todo})`;

/**
 * Milliseconds for which the hub has not answered for some partition that is read, or for which some owned partition
 * could not be opened; while none is read, since the last complete round.
 */
export function silentMsAt(
  now: number,
  { answeredAt, unreadSince }: Pick<LastRound, 'answeredAt' | 'unreadSince'>,
  read: readonly Pick<QuietTimes, 'unansweredMs'>[],
): number {
  if (read.length === 0) return now - answeredAt;
  return Math.max(unreadSince === undefined ? 0 : now - unreadSince, ...read.map(({ unansweredMs }) => unansweredMs));
}
