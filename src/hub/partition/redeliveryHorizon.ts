/** Up to where messages may have been handled before, by somebody who did not come to write that down (D10). */
export interface RedeliveryHorizon {
  /** Finds out, if that has not been possible yet; undefined when it is known. Never rejects. */
  look(): Promise<void> | undefined;
  redelivered(sequenceNumber: number): boolean;
  /** Its sequence number; undefined while it is not known. */
  known(): number | undefined;
}

/** As the reader before has said when it gave the partition back. */
export const knownRedeliveryHorizon = (begun: number): RedeliveryHorizon => ({
  look: () => undefined,
  redelivered: (sequenceNumber) => sequenceNumber <= begun,
  known: () => begun,
});

/**
 * The newest event of the hub when the first events are here, for then the reader before gets none any more. While it
 * cannot be had, everything may be a repeat.
 */
export function openRedeliveryHorizon(
  newest: () => Promise<number>,
  onTrouble: (error: unknown, what: string) => void,
): RedeliveryHorizon {
  let redeliveryHorizon: number | undefined;

  async function find() {
    try {
      redeliveryHorizon = await newest();
    } catch (error) {
      onTrouble(error, 'newest event not known: whatever comes may be a repeat');
    }
  }

  return {
    look: () => (redeliveryHorizon === undefined ? find() : undefined),
    redelivered: (sequenceNumber) => redeliveryHorizon === undefined || sequenceNumber <= redeliveryHorizon,
    known: () => redeliveryHorizon,
  };
}
