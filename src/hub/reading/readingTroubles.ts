import type { ReadingDiagnosis } from '../../observing/diagnosis.ts';
import type { Troubles } from '../../observing/log.ts';

/** The place of a trouble that concerns the hub as a whole; the others are ids of partitions. */
export const wholeHub = 'hub';

export type ReadingTroubles = ReturnType<typeof createReadingTroubles>;

/**
 * Why partitions cannot be read. Partitions with the same cause share one source of log lines.
 * @param told what a diagnosis means for the way in which the hub is read. @param refused the hub refuses whom the service says it is
 */
export function createReadingTroubles(
  troubles: Troubles,
  told = (found: ReadingDiagnosis): ReadingDiagnosis => found,
  refused = () => {},
) {
  const known = new Map<string, ReadingDiagnosis>();
  const sourceOf = ({ cause }: ReadingDiagnosis) => `reading: ${cause}`;
  const sharing = (cause: string) => [...known].filter(([, one]) => one.cause === cause).map(([place]) => place);

  /** The hub answers again, or this instance does not own the partition any more. */
  function clear(place: string) {
    const diagnosis = known.get(place);
    if (diagnosis === undefined) return;
    known.delete(place);
    if (sharing(diagnosis.cause).length === 0) troubles.clear(sourceOf(diagnosis), 'the hub can be read again');
  }

  return {
    raise(place: string, found: ReadingDiagnosis) {
      const diagnosis = told(found);
      if (known.get(place)?.cause !== diagnosis.cause) clear(place);
      known.set(place, diagnosis);
      if (diagnosis.cause.startsWith('UnauthorizedError')) refused();
      const { cause, level, setting, hubSaid, todo } = diagnosis;
      troubles.raise(sourceOf(diagnosis), {
        level,
        message: 'the hub cannot be read',
        fields: { cause },
        diagnosis: { setting, hubSaid, todo },
        still: () => ({ places: sharing(cause) }),
      });
    },
    clear,
    of: (place: string) => known.get(place),
    places: () => [...known.keys()],
  };
}
