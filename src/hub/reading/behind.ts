/** How far a partition is behind: one figure, and how old it is (D310). */
export interface Behind {
  /**
   * Age of the oldest event that is not done, read or not; 0 when the last one is done. Null while the hub does not answer,
   * and while all that was read is done, more is there, and its age is not known yet.
   */
  readonly behindSeconds: number | null;
  /** When the hub last answered about the partition, as `performance.now()`; undefined before the first time. */
  readonly asOf: number | undefined;
}

/** What the hub has said about a partition. */
export interface HubAnswer {
  /** Sequence number of its newest event; -1 when it has none. */
  readonly newest: number;
  /** As `performance.now()`. */
  readonly at: number;
}

interface Known {
  readonly answer: HubAnswer | undefined;
  /** The hub delivers, and has answered the last question about the partition. */
  readonly isAnswering: boolean;
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
