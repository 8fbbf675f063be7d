import { type EventHubConsumerClient, earliestEventPosition, type Subscription } from '@azure/event-hubs';
import { within } from '../../concurrency/waiting.ts';
import type { Partition } from '../../engine/partition.ts';
import { diagnoseReading, type ReadingDiagnosis } from '../../observing/diagnosis.ts';
import type { Log } from '../../observing/log.ts';
import type { HubEvent } from '../../protocol/event.ts';

const closesWithinMs = 5_000;

export interface PartitionReaderOptions {
  readonly partitionId: string;
  readonly partition: Pick<Partition, 'admit' | 'position'>;
  /** A reader with a higher epoch disconnects one with a lower. */
  readonly epoch: number;
  readonly batchSize: number;
  readonly prefetch: number;
  readonly maxWaitSeconds: number;
  /** Another reader with a higher epoch has connected. */
  lost(): void;
  /** The client has reported an error. */
  failed(diagnosis: ReadingDiagnosis): void;
  /** The subscription has reported, with events or without. */
  heard(): void;
  readonly log: Log;
}

export type PartitionReader = ReturnType<typeof createPartitionReader>;

/** Keeps a subscription to one partition open and passes its events to the partition. Facts reading.equal-level, reading.lower-level. */
export function createPartitionReader(first: EventHubConsumerClient, options: PartitionReaderOptions) {
  const { partition, partitionId, log } = options;
  const begunAt = performance.now();
  let signs: LifeSigns = { subscribed: begunAt, heard: begunAt, refused: begunAt, event: Number.NEGATIVE_INFINITY };
  let isHeard = false;
  let takingIn = 0;
  let closed = false;
  /** The client for the next subscription, which begins when no events are being admitted. */
  let next: EventHubConsumerClient | undefined;
  let subscription: Subscription | undefined = subscribe(first);

  function subscribe(client: EventHubConsumerClient): Subscription {
    signs = { ...signs, subscribed: performance.now() };
    const after = partition.position();
    const subscribed: Subscription = client.subscribe(
      partitionId,
      {
        // An error thrown here would stop the partition or skip the batch (SDK trap 9): admit never rejects.
        async processEvents(events) {
          if (subscribed !== subscription) return;
          takingIn += 1;
          isHeard = true;
          options.heard();
          try {
            await partition.admit(events as readonly HubEvent[]);
          } finally {
            takingIn -= 1;
            const heard = performance.now();
            signs = { ...signs, heard, ...(events.length > 0 && { event: heard }) };
            subscribeNext();
          }
        },
        async processError(error) {
          if (subscribed !== subscription || closed) return;
          if ('code' in error && error.code === 'ReceiverDisconnectedError') return options.lost();
          const diagnosis = diagnoseReading(error, 'reading');
          if (diagnosis.isAnswer) signs = { ...signs, refused: performance.now() };
          options.failed(diagnosis);
        },
      },
      {
        // A subscription without a position would begin at the latest event (SDK trap 14).
        startPosition: after === undefined ? earliestEventPosition : { offset: after.offset, isInclusive: false },
        ownerLevel: options.epoch,
        maxBatchSize: options.batchSize,
        prefetchCount: options.prefetch,
        maxWaitTimeInSeconds: options.maxWaitSeconds,
        skipParsingBodyAsJson: true, // the SDK's parser damages 64-bit numbers
      },
    );
    return subscribed;
  }

  async function closeSubscription(): Promise<void> {
    const old = subscription;
    subscription = undefined;
    if (old === undefined) return;
    await within(old.close(), closesWithinMs).catch((error) =>
      log.debug({ err: error, partition: partitionId }, 'a subscription did not close cleanly'),
    );
  }

  /** Not while events are being admitted: those of each new subscription would queue up behind them. */
  function subscribeNext() {
    if (next === undefined || takingIn > 0 || closed) return;
    subscription = subscribe(next);
    next = undefined;
  }

  return {
    /** For how long there has been no sign of life. */
    quiet: (): QuietTimes => (takingIn > 0 ? notQuiet : quietAt(performance.now(), signs)),
    /** Whether events are being admitted, or wait for it. */
    isTakingIn: () => takingIn > 0,
    /** Whether the subscription has ever reported: with events, or without any when none came in `maxWaitSeconds`. */
    isHeard: () => isHeard,
    /** Replaces the subscription by a new one that resumes at the same position. */
    restart(client: EventHubConsumerClient) {
      if (closed) return;
      // First: a client refuses a second subscription to a partition.
      void closeSubscription();
      next = client;
      subscribeNext();
    },
    async close() {
      closed = true;
      await closeSubscription();
    },
  };
}

/** When a reader last had each sign of life, as `performance.now()`. */
export interface LifeSigns {
  /** The subscription began. */
  readonly subscribed: number;
  /** It reported: with events, or without any when none came in `maxWaitSeconds`. */
  readonly heard: number;
  /** The hub refused to deliver: an answer, too. */
  readonly refused: number;
  readonly event: number;
}

/** For how long a reader has been quiet, in milliseconds, by what counts as a sign. */
export interface QuietTimes {
  /** Since the subscription began or last reported. */
  readonly silentMs: number;
  /** The same, but the beginning of a new subscription does not count. */
  readonly deafMs: number;
  /** As `deafMs`, but a refusal by the hub counts too: a new subscription would not change it. */
  readonly unansweredMs: number;
  /** Since the last event, or since the subscription began. */
  readonly eventlessMs: number;
  /** Since the last event, if there has been one: the beginning of a subscription does not count. */
  readonly unfedMs: number;
}

/** While events are being admitted. */
const notQuiet: QuietTimes = { silentMs: 0, deafMs: 0, unansweredMs: 0, eventlessMs: 0, unfedMs: 0 };

export const quietAt = (now: number, { subscribed, heard, refused, event }: LifeSigns): QuietTimes => ({
  silentMs: now - Math.max(subscribed, heard),
  deafMs: now - heard,
  unansweredMs: now - Math.max(heard, refused),
  eventlessMs: now - Math.max(subscribed, event),
  unfedMs: now - event,
});
