import type { Ways } from '../otherwise/ways.ts';
import type { Refusal } from '../values/refusal.ts';
import { epochRequired, lowerEpoch, replacedByEpoch, tooManyReceivers } from './conditions.ts';

/** A receiver that wants a partition in a consumer group. */
export interface Candidate {
  /** The name that the client gave the receiver. */
  name: string | undefined;
  /** Owner level; undefined for a receiver that shares. */
  epoch: number | undefined;
  /** Called when another receiver takes the partition. */
  onStolen(refusal: Refusal): void;
}

/** The receivers of each partition. */
export interface Owners {
  /**
   * Admit a receiver, or refuse it. An owner level disconnects all receivers with the same, a lower or no level; a lower
   * one than the present, or none while there is one, is refused; without levels five may share. Call the answer when the
   * receiver is closed.
   */
  admit(partitionKey: string, candidate: Candidate): () => void;
}

const maxReceivers = 5;

/** The ownerships of one hub; `partitionKey` names a partition in a consumer group. */
export function createOwners(otherwise: Ways = new Set()): Owners {
  const receiversOf = new Map<string, Set<Candidate>>();

  return {
    admit(partitionKey, candidate) {
      const present = receiversOf.get(partitionKey) ?? new Set();
      receiversOf.set(partitionKey, present);
      const owner = [...present].find(({ epoch }) => epoch !== undefined); // it is alone
      if (candidate.epoch === undefined) {
        if (owner && !otherwise.has('reading.no-level')) throw epochRequired(owner);
        if (present.size >= maxReceivers && !otherwise.has('reading.five')) throw tooManyReceivers([...present]);
      } else {
        const least = candidate.epoch + (otherwise.has('reading.equal-level') ? 0 : 1);
        if (owner?.epoch !== undefined && owner.epoch >= least) throw lowerEpoch(owner, candidate);
        const former = [...present];
        present.clear();
        for (const other of former) other.onStolen(replacedByEpoch(candidate, other));
      }
      present.add(candidate);
      return () => present.delete(candidate);
    },
  };
}
