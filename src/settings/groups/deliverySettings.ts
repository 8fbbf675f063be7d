import type convict from 'convict';
import { mostToReserve } from '../../protocol/body.ts';
import { messageLimits } from './constants.ts';
import { gibibyte, hour, mebibyte } from './measures.ts';

export const delivery = {
  maxMessages: {
    doc: 'Most messages in flight (G2), half of them in one partition; the service uses no more of them than keep it busy (D163). Others wait in memory, or in the hub (D27); as many again may wait for their replies to be sent (D28).',
    format: 'count',
    maximum: 100_000,
    default: 1000,
    env: 'DELIVERY_MAX_MESSAGES',
  },
  maxBytes: {
    doc: 'Most bytes of memory for the bodies of messages in flight (G2, R6), half of them in one partition. An eighth of it more is for messages whose replies are to be sent, and as many again for the models that `Svc.Device.SyncModel` has fetched.',
    format: 'count',
    // A message larger than the limit of its partition would never start.
    minimum: 2 * mostToReserve(messageLimits.maxInflatedBytes),
    maximum: 16 * gibibyte,
    default: 64 * mebibyte,
    env: 'DELIVERY_MAX_BYTES',
  },
  drainSeconds: {
    doc: 'How long a stop waits for the messages in flight, in seconds (G3).',
    format: 'count',
    maximum: hour,
    default: 25,
    env: 'DELIVERY_DRAIN_SECONDS',
  },
} satisfies convict.Schema<unknown>;

export const replies = {
  sendsPerMinute: {
    doc: 'Most replies a minute; with 0 the service finds the limit of the hub itself. The limit applies to all senders together, 100 a minute for each unit of S1 and S2, 5,000 of S3: divide it by the number of instances (C4).',
    format: 'count-or-none',
    maximum: 1_000_000,
    default: 0,
    env: 'REPLIES_SENDS_PER_MINUTE',
  },
  fullQueueBytes: {
    doc: 'Most bytes of memory for messages whose replies wait for room in the full queues of their devices, 8 KiB for each and its replies; beyond it, those that have waited longest are dropped (C4).',
    format: 'count',
    minimum: mebibyte,
    maximum: 16 * gibibyte,
    default: 32 * mebibyte,
    env: 'REPLIES_FULL_QUEUE_BYTES',
  },
} satisfies convict.Schema<unknown>;
