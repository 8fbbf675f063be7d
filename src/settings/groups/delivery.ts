import type convict from 'convict';
import { gibibyte, hour, mebibyte, mostBetweenSigns } from '../measures.ts';

export const delivery = {
  maxMessages: {
    doc: 'Most messages in work at once (G2). As many more may wait in memory for their turn, and as many be answered (D27, D28).',
    format: 'count',
    maximum: 100_000,
    default: 1000,
    env: 'DELIVERY_MAX_MESSAGES',
  },
  maxBytes: {
    doc: 'Most bytes of memory for the bodies of messages in work at once (G2, R6). An eighth more may wait in memory, and an eighth be answered.',
    format: 'count',
    maximum: 16 * gibibyte,
    default: 64 * mebibyte,
    env: 'DELIVERY_MAX_BYTES',
  },
  partitionMessages: {
    doc: 'Most messages of one partition in work at once (G2); as many more may wait in memory, and as many be answered.',
    format: 'count',
    maximum: 100_000,
    default: 500,
    env: 'DELIVERY_PARTITION_MESSAGES',
  },
  partitionBytes: {
    doc: 'Most bytes of memory for the bodies of messages of one partition in work at once (G2, R6); an eighth more may wait in memory, and an eighth be answered.',
    format: 'count',
    maximum: 16 * gibibyte,
    default: 32 * mebibyte,
    env: 'DELIVERY_PARTITION_BYTES',
  },
  deviceMessages: {
    doc: 'Most messages of one device that are kept in memory; the others wait on disk (D16).',
    format: 'count',
    maximum: 100_000,
    default: 16,
    env: 'DELIVERY_DEVICE_MESSAGES',
  },
  spoolBytes: {
    doc: 'Most bytes on disk for each partition; beyond it the partition waits.',
    format: 'count',
    maximum: 1024 * gibibyte,
    default: 256 * mebibyte,
    env: 'DELIVERY_SPOOL_BYTES',
  },
  spoolMessages: {
    doc: 'Most messages on disk for each partition, each of which takes about 400 bytes of memory; beyond it the partition waits.',
    format: 'count',
    maximum: 1_000_000,
    default: 100_000,
    env: 'DELIVERY_SPOOL_MESSAGES',
  },
  drainSeconds: {
    doc: 'How long a stop waits for the messages in work, in seconds (G3).',
    format: 'count',
    maximum: hour,
    default: 25,
    env: 'DELIVERY_DRAIN_SECONDS',
  },
} satisfies convict.Schema<unknown>;

export const scaling = {
  roundSeconds: {
    doc: 'How often an instance renews what it reads and looks what the others read, in seconds.',
    format: 'count',
    maximum: mostBetweenSigns,
    default: 5,
    env: 'SCALING_ROUND_SECONDS',
  },
  expirySeconds: {
    doc: 'An instance that has not renewed for so long, in seconds, has lost its partitions to the others; at least three rounds.',
    format: 'count',
    maximum: hour,
    default: 30,
    env: 'SCALING_EXPIRY_SECONDS',
  },
} satisfies convict.Schema<unknown>;
