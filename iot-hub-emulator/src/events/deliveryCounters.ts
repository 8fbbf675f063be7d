/** What the hub has done since its start, in messages. */
export interface DeliveryCounters {
  /** Events that were sent to receivers. */
  delivered: number;
  /** Events that receivers have settled; those that were sent settled count at once. */
  settled: number;
}

/** Counts at the start: nothing yet. */
export const createDeliveryCounters = (): DeliveryCounters => ({ delivered: 0, settled: 0 });
