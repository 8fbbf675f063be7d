import type { LogText } from '../../log/events.ts';

/** The newest message whose handling may have begun in an earlier session (D10). */
export interface RedeliveryHorizon {
  /** Asks the hub for its newest event if that is not known yet; undefined when it is known. Never rejects. */
  look(): Promise<void> | undefined;
  redelivered(sequenceNumber: number): boolean;
  /** Its sequence number; undefined while it is not known. */
  known(): number | undefined;
}

/** As the last owner wrote it when it released the partition. */
export const knownRedeliveryHorizon = (begun: number): RedeliveryHorizon => ({
  look: () => undefined,
  redelivered: (sequenceNumber) => sequenceNumber <= begun,
  known: () => begun,
});

/**
 * The newest event of the hub when this session receives its first events: from then on the hub sends none to the last
 * owner. While it is not known, every event counts as redelivered.
 */
export function openRedeliveryHorizon(
  newest: () => Promise<number>,
  onTrouble: (error: unknown, what: LogText<'error'>) => void,
): RedeliveryHorizon {
  let redeliveryHorizon: number | undefined;

  async function find() {
    try {
      redeliveryHorizon = await newest();
    } catch (error) {
      onTrouble(error, 'newest event not known: every event counts as redelivered');
    }
  }

  return {
    look: () => (redeliveryHorizon === undefined ? find() : undefined),
    redelivered: (sequenceNumber) => redeliveryHorizon === undefined || sequenceNumber <= redeliveryHorizon,
    known: () => redeliveryHorizon,
  };
}
