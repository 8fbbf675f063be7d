/** What the service has done since its start; plain numbers, so that counting costs next to nothing. */
export interface Counters {
  /** Events of the hub that are not ours. */
  skipped: number;
  /** Messages with a slip in the names of their properties, ours or not. */
  misspellings: number;
  /** Messages of ours without the hub's stamp: nobody to attribute them to (R1). */
  unattributed: number;
  succeeded: number;
  failed: number;
  /** Failed through our side, and kept as dead letters. */
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
