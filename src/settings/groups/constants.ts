import { mebibyte } from './measures.ts';

/** Values that no operator would choose. The wiring passes them to the factories, as it does with settings (D66). */

/** How the hub's client reads. An idle partition gives a sign of life every `maxWaitSeconds`. */
export const reading = { batchSize: 100, prefetch: 300, maxWaitSeconds: 2 };

/** What one message may ask for (P2, R6, A4, A10). */
export const messageLimits = {
  defaultTimeoutSeconds: 300,
  maxTimeoutSeconds: 900,
  maxInflatedBytes: mebibyte / 2,
  maxVersionGap: 100,
  maxSyncModels: 200,
  maxSyncBytes: 8 * mebibyte,
};

/** Messages of one device that are kept in memory; the others wait on disk (D16). */
export const deviceMessages = 16;

/** Messages on disk for each partition, at about 400 bytes of memory each; beyond them the partition waits (D16). */
export const spoolMessages = 100_000;

/** A partition's checkpoint is written after so many messages, or after its time (G1). */
export const checkpointEveryMessages = 100;

/** Renewals within an expiry: an instance that misses some of them keeps its partitions. */
export const roundsInExpiry = 6;

/** Replies that wait for the hub's answer at once. */
export const mostRepliesInFlight = 256;

/** Dead letters of one device, and of all (D67). */
export const letterCounts = { deviceLetters: 1_000, maxLetters: 100_000 };

/** Invocations in flight, of callers who may invoke (M8). */
export const mostInvocations = 1_000;
