/** A condition for a message to begin: the backends that it needs are up (B5). */
export interface Requirement {
  isMet(): boolean;
  /** The backends: the share of the backlog that they have (B5), and for operators. */
  readonly needs?: readonly string[];
  /** Resolves with true when it is met, with false when `signal` is aborted. */
  met(signal: AbortSignal): Promise<boolean>;
}

/** A message in a lane. There may be very many, so this is a linked list without wrappers. */
export interface Queued {
  /** The next one of the same lane. */
  next?: Queued | undefined;
  readonly sequenceNumber: number;
  /** Bytes of the budget. */
  readonly cost: number;
  /** Bytes of the backlog; 0 when it has begun at once. */
  readonly waitingBytes: number;
  readonly requirement: Requirement;
}
