import {
  type EventHubConsumerClient,
  type EventPosition,
  earliestEventPosition,
  type Subscription,
} from '@azure/event-hubs';
import { within } from '../../concurrency/within.ts';
import type { Log } from '../../log/log.ts';
import type { HubEvent } from '../../protocol/event.ts';
import type { Partition } from '../partition/partition.ts';
import { type Diagnosis, diagnose } from './diagnosis.ts';

/** A hub that does not answer must not hold up a stop. */
const closesWithinMs = 5_000;

/** Keeps a subscription to one partition alive and feeds the partition from it. */
export interface Reader {
  /** Milliseconds since the subscription last gave a sign of life; 0 while events of it are being taken in. */
  silentForMs(): number;
  /** The same, but a new subscription is no sign of life by itself. */
  deafForMs(): number;
  /** The same, but a refusal by the hub is a sign of life too: subscribing again would not help. */
  unansweredForMs(): number;
  /** Milliseconds since the last event, or since the subscription; 0 while events are being taken in. */
  eventlessForMs(): number;
  /** Whether the hub has ever agreed: events have come, or it has let a link stand open without any. */
  isHeard(): boolean;
  /** Whether events wait for room or are being looked at. */
  isTakingIn(): boolean;
  /** Leaves the subscription, however it is, for a new one that goes on where the old one was. */
  restart(client: EventHubConsumerClient): void;
  close(): Promise<void>;
}

export interface ReaderOptions {
  readonly partitionId: string;
  readonly partition: Partition;
  /** A higher one takes the partition over from a lower. */
  readonly epoch: number;
  readonly batchSize: number;
  readonly prefetch: number;
  readonly maxWaitSeconds: number;
  /** Another reader with a higher epoch has come. */
  lost(): void;
  /** The hub, or the client, has said why it cannot be read. */
  failed(diagnosis: Diagnosis): void;
  /** The hub has given a sign of life. */
  heard(): void;
  readonly log: Log;
}

export function createReader(first: EventHubConsumerClient, options: ReaderOptions): Reader {
  const { partition, partitionId, log } = options;
  let lastSign = performance.now();
  let lastHeard = lastSign;
  let lastAnswer = lastSign;
  let lastEvent = lastSign;
  let isHeard = false;
  let takingIn = 0;
  let closed = false;
  /** What is to be subscribed to when the events that are being taken in are in. */
  let next: EventHubConsumerClient | undefined;
  let subscription: Subscription | undefined = subscribe(first);

  function subscribe(client: EventHubConsumerClient): Subscription {
    lastSign = performance.now();
    lastEvent = lastSign;
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
            lastSign = performance.now();
            lastHeard = lastSign;
            if (events.length > 0) lastEvent = lastSign;
            goOn();
          }
        },
        async processError(error) {
          if (subscribed !== subscription || closed) return;
          if ('code' in error && error.code === 'ReceiverDisconnectedError') {
            options.lost();
            return;
          }
          const diagnosis = diagnose(error, 'reading');
          if (diagnosis.isAnswer) lastAnswer = performance.now();
          options.failed(diagnosis);
        },
      },
      {
        startPosition: startOf(partition),
        ownerLevel: options.epoch,
        maxBatchSize: options.batchSize,
        prefetchCount: options.prefetch,
        maxWaitTimeInSeconds: options.maxWaitSeconds,
        skipParsingBodyAsJson: true, // the SDK's parser damages 64-bit numbers
      },
    );
    return subscribed;
  }

  async function leave(): Promise<void> {
    const old = subscription;
    subscription = undefined;
    if (old === undefined) return;
    await within(old.close(), closesWithinMs).catch((error) =>
      log.debug({ err: error, partition: partitionId }, 'a subscription did not close cleanly'),
    );
  }

  /** Not while events wait for room: those of the new subscription would wait behind them, and more with each one. */
  function goOn() {
    if (next === undefined || takingIn > 0 || closed) return;
    subscription = subscribe(next);
    next = undefined;
  }

  return {
    silentForMs: () => (takingIn > 0 ? 0 : performance.now() - lastSign),
    isTakingIn: () => takingIn > 0,
    deafForMs: () => (takingIn > 0 ? 0 : performance.now() - lastHeard),
    unansweredForMs: () => (takingIn > 0 ? 0 : performance.now() - Math.max(lastHeard, lastAnswer)),
    eventlessForMs: () => (takingIn > 0 ? 0 : performance.now() - lastEvent),
    isHeard: () => isHeard,
    restart(client) {
      if (closed) return;
      // First: a client lets nobody subscribe to a partition that it has a subscription to.
      void leave();
      next = client;
      goOn();
    },
    async close() {
      closed = true;
      await leave();
    },
  };
}

/** A subscription without a position would begin at the latest event (SDK trap 14). */
function startOf(partition: Partition): EventPosition {
  const after = partition.position();
  return after === undefined ? earliestEventPosition : { offset: after.offset, isInclusive: false };
}
