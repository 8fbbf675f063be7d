import type { Refusal } from '../values/refusal.ts';
import { drivenOut, epochRequired, lowerEpoch, tooManyReceivers } from './conditions.ts';

/** A receiver that wants a partition in a consumer group. */
export interface Candidate {
  /** What it calls itself. */
  name: string | undefined;
  /** Owner level; undefined for a receiver that shares. */
  epoch: number | undefined;
  /** Called when somebody else takes the partition. */
  stolen(refusal: Refusal): void;
}

/** Who reads which partition. */
export interface Owners {
  /**
   * Let a receiver in, or refuse it. An owner level drives out all with the same, a lower or no level; a lower one than
   * the present, or none while there is one, is refused; without levels five may share. The answer gives the place up.
   */
  admit(place: string, candidate: Candidate): () => void;
}

const sharing = 5;

/** The ownerships of one hub; `place` names a partition in a consumer group. */
export function createOwners(): Owners {
  const places = new Map<string, Set<Candidate>>();

  return {
    admit(place, candidate) {
      const present = places.get(place) ?? new Set();
      places.set(place, present);
      const owner = [...present].find(({ epoch }) => epoch !== undefined); // it is alone
      if (candidate.epoch === undefined) {
        if (owner) throw epochRequired(owner);
        if (present.size >= sharing) throw tooManyReceivers([...present]);
      } else {
        if (owner?.epoch !== undefined && owner.epoch > candidate.epoch) throw lowerEpoch(owner, candidate);
        const former = [...present];
        present.clear();
        for (const other of former) other.stolen(drivenOut(candidate, other));
      }
      present.add(candidate);
      return () => present.delete(candidate);
    },
  };
}
