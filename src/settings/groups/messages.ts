import type convict from 'convict';
import { day, hour, mebibyte } from '../measures.ts';

export const messages = {
  defaultTimeoutSeconds: {
    doc: 'Bound on the processing of a message that names none, in seconds (P2).',
    format: 'count',
    maximum: day,
    default: 300,
    env: 'MESSAGES_DEFAULT_TIMEOUT_SECONDS',
  },
  maxTimeoutSeconds: {
    doc: 'Largest `timeout` a message may ask for, in seconds (P2).',
    format: 'count',
    maximum: day,
    default: 900,
    env: 'MESSAGES_MAX_TIMEOUT_SECONDS',
  },
  maxInflatedBytes: {
    doc: 'Largest body a compressed message may inflate to, in bytes (R6).',
    format: 'count',
    maximum: 64 * mebibyte,
    default: mebibyte / 2,
    env: 'MESSAGES_MAX_INFLATED_BYTES',
  },
  maxVersionGap: {
    doc: 'Most updates that one message makes up for when the stored version is behind its own (A4).',
    format: 'count',
    maximum: 10_000,
    default: 100,
    env: 'MESSAGES_MAX_VERSION_GAP',
  },
  maxSyncModels: {
    doc: 'Most object models that one SyncModel fetches (A10).',
    format: 'count',
    maximum: 10_000,
    default: 200,
    env: 'MESSAGES_MAX_SYNC_MODELS',
  },
  maxSyncBytes: {
    doc: 'Most bytes of object models that one SyncModel fetches (A10).',
    format: 'count',
    maximum: 256 * mebibyte,
    default: 8 * mebibyte,
    env: 'MESSAGES_MAX_SYNC_BYTES',
  },
} satisfies convict.Schema<unknown>;

export const replies = {
  maxWaitSeconds: {
    doc: 'How long a reply waits out a full device queue or a throttling hub before it is dropped, in seconds (C4).',
    format: 'count',
    maximum: hour,
    default: 60,
    env: 'REPLIES_MAX_WAIT_SECONDS',
  },
  sendTimeoutSeconds: {
    doc: 'How long the hub may take to settle one reply, in seconds, from when it has settled those sent before; then the reply is tried again. When the hub has settled nothing for twice as long, the connection is replaced (C4).',
    format: 'count',
    maximum: hour,
    default: 10,
    env: 'REPLIES_SEND_TIMEOUT_SECONDS',
  },
  sendsPerMinute: {
    doc: 'Most replies a minute; 0: as many as the hub turns out to take. The hub counts for all its senders, 100 a minute for each unit of S1 and S2, 5,000 of S3: divide them by the number of instances (C4).',
    format: 'count-or-none',
    maximum: 1_000_000,
    default: 0,
    env: 'REPLIES_SENDS_PER_MINUTE',
  },
  maxInFlight: {
    doc: 'Most replies that wait for the hub’s answer at once.',
    format: 'count',
    maximum: 1_000,
    default: 256,
    env: 'REPLIES_MAX_IN_FLIGHT',
  },
} satisfies convict.Schema<unknown>;
