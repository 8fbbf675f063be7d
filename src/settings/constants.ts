/** Bounds of settings. Those in seconds are far below 2,147,483 s: timers of Node.js fire at once beyond it. */

export const hour = 3600;
export const day = 24 * hour;

export const mebibyte = 1024 * 1024;
export const gibibyte = 1024 * mebibyte;

/** Values that no operator would choose. They are passed to the factories as settings are (D66). */

/** Options for reading from the hub. An idle partition is reported first after `maxWaitSeconds`; the service is not ready before (D145). */
export const reading = { batchSize: 50, prefetch: 100, maxWaitSeconds: 0.1, silentMs: 11_000 };

/** When the hub is asked for its event endpoint again: while a partition is not read, and while no event comes (D402). */
export const failover = { unreadMs: 30_000, eventlessMs: 120_000, answerMs: 15_000 };

/** Limits for one message and for what is read of the answers to it (P2, R6, D185). */
export const messageLimits = {
  defaultTimeoutSeconds: 300,
  maxInflatedBytes: mebibyte / 2,
  /** Largest gap between a request's version and the stored one (A4). */
  maxVersionGap: 100,
  /** Object models that one SyncModel fetches; bytes of them, and of their references (A10). */
  maxSyncModels: 200,
  maxSyncBytes: 8 * mebibyte,
  maxReferences: 20_000,
  /** Object models that are compared with the unique properties of one message. */
  maxHits: 1_000,
  maxRelatedModels: 3_000,
};
export type MessageLimits = Readonly<typeof messageLimits>;

/** This number of messages may always be in flight, of DELIVERY_MAX_MESSAGES (D163). */
export const leastMessages = 48;

/** What may wait to begin, of all partitions; where it is reached, a partition waits in the hub (B5, D27). */
export const backlogLimits = { maxMessages: 50_000, maxBytes: 64 * mebibyte };

/**
 * How long, in seconds: an instance that has not renewed its ownership for `expirySeconds` loses its partitions to the others
 * (D15); a checkpoint is written `checkpointSeconds` after a message at the latest (G1); a reply that the hub refuses for now is
 * sent again for `replySeconds` (C4).
 */
export const timing = { expirySeconds: 30, checkpointSeconds: 5, replySeconds: 60 };

/** A partition's checkpoint is written after this many messages, or after `checkpointSeconds` (G1, D149). */
export const checkpointEveryMessages = 500;

/** Renewals within an expiry: an instance that misses a few of them keeps its partitions. */
export const roundsInExpiry = 6;

/** Without success for this time, `/livez` asks for a restart. */
export const stuckAfterMs = 5 * 60_000;

/** Most replies that wait for the hub to settle them. */
export const mostRepliesInFlight = 256;

/** Most dead letters of one device, and of all (D67). */
export const letterCounts = { deviceLetters: 1_000, maxLetters: 100_000 };

/** Most invocations in flight of authorised callers, in all and for one device (M8). */
export const invocationLimits = { inFlight: 1_000, inFlightPerDevice: 10 };

/** Most bodies that are being received, 256 KiB each, in all and of one caller (M14). */
export const mostBodies = { inAll: 400, ofCaller: 100 };

/** The files of secrets are looked at so often (D396). */
export const secretFiles = { lookMs: 5_000 };
