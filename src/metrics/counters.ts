/** Counts since the start. */
export interface Counters {
  /** Events that are not our messages. */
  skipped: number;
  /** Messages with a misspelt property name. */
  misspellings: number;
  /** Our messages without the hub's device stamp (R1). */
  unattributed: number;
  succeeded: number;
  failed: number;
  /** Messages stored as dead letters. */
  parked: number;
  repliesDelivered: number;
  repliesDropped: number;
}

export const createCounters = (): Counters => ({
  skipped: 0,
  misspellings: 0,
  unattributed: 0,
  succeeded: 0,
  failed: 0,
  parked: 0,
  repliesDelivered: 0,
  repliesDropped: 0,
});
