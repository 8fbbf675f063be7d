import { Refusal } from '../values/refusal.ts';

/** A receiver that wants a partition in a consumer group. */
export interface Candidate {
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
      const highest = Math.max(...[...present].map(({ epoch = Number.NEGATIVE_INFINITY }) => epoch));
      if (candidate.epoch === undefined) {
        if (highest > Number.NEGATIVE_INFINITY)
          throw stolen('A receiver with an owner level reads this partition; one without cannot.');
        if (present.size >= sharing)
          throw new Refusal('amqp:resource-limit-exceeded', 'Five receivers of the group read this partition already.');
      } else {
        if (highest > candidate.epoch) throw stolen('A receiver with a higher owner level reads this partition.');
        const former = [...present];
        present.clear();
        for (const other of former) other.stolen(stolen('A receiver with an owner level took this partition.'));
      }
      present.add(candidate);
      return () => present.delete(candidate);
    },
  };
}

function stolen(description: string): Refusal {
  return new Refusal('amqp:link:stolen', description);
}
