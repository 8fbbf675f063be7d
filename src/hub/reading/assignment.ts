import { type EventHubConsumerClient, earliestEventPosition, type Subscription } from '@azure/event-hubs';
import { within } from '../../concurrency/waiting.ts';
import type { DeviceEvent } from '../../engine/intake.ts';
import { createPartition, type Gap, type Partition, type PartitionOptions } from '../../engine/partition.ts';
import { diagnoseReading, type ReadingDiagnosis } from '../../observing/diagnosis.ts';
import type { Log, Troubles } from '../../observing/log.ts';
import type { Meter } from '../../observing/metrics.ts';
import { storeFieldsOf } from '../../observing/storeFailure.ts';
import type { Taps } from '../../observing/taps.ts';
import type { HubEvent } from '../../protocol/event.ts';
import type { Lease } from '../../stores/checkpointStore.ts';

/** A session that has ended has none. */
export type SessionState = 'opening' | 'reading' | 'draining' | 'revoked';

export type Revocation = 'lost' | 'stood_still' | 'cut_off' | 'refused';

interface PartitionSessionOptions<A extends DeviceEvent>
  extends Omit<PartitionReaderOptions, 'partition'>,
    Omit<PartitionOptions<A>, 'onGap'> {
  readonly record: Lease;
  readonly gaps: ReturnType<typeof createGapReports>;
  readonly drainMs: number;
  /** @param begun newest sequence number whose handling may have begun on any instance, if that is known */
  releaseLease(begun: number | undefined): Promise<void>;
  ended(reason: Revocation | 'released' | 'not_released'): void;
  gone(): void;
}

export type PartitionSession = ReturnType<typeof beginPartitionSession>;

/** The time in which this instance owns and reads one partition. It reads, and drains when it is to be released; it is revoked from either state. */
export function beginPartitionSession<A extends DeviceEvent>(
  client: EventHubConsumerClient,
  options: PartitionSessionOptions<A>,
) {
  const { record, redeliveryHorizon, gaps, drainMs, releaseLease, ended, gone, log } = options;
  const partition = createPartition({ ...options, onGap: gaps.report });
  const reader = createPartitionReader(client, { ...options, partition });
  const position = () => partition.position()?.sequenceNumber ?? -1;
  let state: Exclude<SessionState, 'opening'> = 'reading';
  let end: Promise<void> = Promise.resolve();

  async function drainAndRelease() {
    try {
      const [unfinished] = await Promise.all([partition.drain(drainMs), reader.close()]);
      partition.revoke();
      gaps.close();
      const before = redeliveryHorizon.known();
      await releaseLease(before === undefined ? undefined : Math.max(before, position()));
      if (state !== 'revoked') ended('released'); // else its end has been reported already
      log.info({ partition: record.partition, unfinished }, 'partition released');
    } catch (error) {
      if (state !== 'revoked') ended('not_released');
      log.warn({ err: error, ...storeFieldsOf(error) }, 'a partition was not released');
    } finally {
      gone();
    }
  }

  async function close() {
    partition.revoke();
    await Promise.all([reader.close(), partition.drain(drainMs)]);
    gaps.close();
  }

  return {
    record,
    reader,
    /** Sequence number up to which events have been admitted; -1 before the first. */
    position,
    /** When the session began, as `performance.now()`. */
    since: performance.now(),
    contents: partition.contents,
    devices: partition.devices,
    pending: partition.pending,
    state: () => state,
    /** Nothing more is begun, called, sent or written, also in the middle of a drain, and the subscription closes. */
    revoke(reason: Revocation) {
      if (state === 'revoked') return;
      ended(reason);
      if (state === 'draining') partition.revoke();
      else end = close().finally(gone);
      state = 'revoked';
    },
    /** Drains and releases; of a session that has been revoked, waits for the end. Never rejects. */
    release(): Promise<void> {
      if (state === 'reading') {
        state = 'draining';
        end = drainAndRelease();
      }
      return end;
    },
  };
}

const closesWithinMs = 5_000;

export interface PartitionReaderOptions {
  /** Of what is read. A reader with a higher epoch disconnects one with a lower. */
  readonly record: Pick<Lease, 'partition' | 'epoch'>;
  readonly partition: Pick<Partition, 'admit' | 'position'>;
  readonly batchSize: number;
  readonly prefetch: number;
  readonly maxWaitSeconds: number;
  lost(): void;
  failed(diagnosis: ReadingDiagnosis): void;
  /** The subscription has reported, with events or without. */
  heard(): void;
  readonly log: Log;
}

/** Keeps a subscription to one partition open and passes its events to the partition. Facts reading.equal-level, reading.lower-level. */
export function createPartitionReader(first: EventHubConsumerClient, options: PartitionReaderOptions) {
  const { partition, record, log } = options;
  const begunAt = performance.now();
  /** When each was last, as `performance.now()`. */
  const signs = { subscribed: begunAt, heard: begunAt, refused: begunAt, event: Number.NEGATIVE_INFINITY };
  let isHeard = false;
  let takingIn = 0;
  let closed = false;
  /** The client for the next subscription, which begins when no events are being admitted. */
  let next: EventHubConsumerClient | undefined;
  let subscription: Subscription | undefined = subscribe(first);

  function subscribe(client: EventHubConsumerClient): Subscription {
    signs.subscribed = performance.now();
    const after = partition.position();
    const subscribed: Subscription = client.subscribe(
      record.partition,
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
            signs.heard = performance.now();
            if (events.length > 0) signs.event = signs.heard;
            subscribeNext();
          }
        },
        async processError(error) {
          if (subscribed !== subscription || closed) return;
          if ('code' in error && error.code === 'ReceiverDisconnectedError') return options.lost();
          const diagnosis = diagnoseReading(error, 'reading');
          if (diagnosis.isAnswer) signs.refused = performance.now();
          options.failed(diagnosis);
        },
      },
      {
        // A subscription without a position would begin at the latest event (SDK trap 14).
        startPosition: after === undefined ? earliestEventPosition : { offset: after.offset, isInclusive: false },
        ownerLevel: record.epoch,
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
      log.debug({ err: error, partition: record.partition }, 'a subscription did not close cleanly'),
    );
  }

  /** Not while events are being admitted: those of each new subscription would queue up behind them. */
  function subscribeNext() {
    if (next === undefined || takingIn > 0 || closed) return;
    subscription = subscribe(next);
    next = undefined;
  }

  return {
    /** Milliseconds without any of these signs of life; 0 while events are being admitted. */
    quietMs: (...some: readonly SignOfLife[]): number =>
      takingIn > 0 ? 0 : performance.now() - Math.max(...some.map((sign) => signs[sign])),
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

/** The subscription began; it reported, with events or without; the hub refused to deliver, an answer too; an event came. */
type SignOfLife = 'subscribed' | 'heard' | 'refused' | 'event';

/** Least time between questions: the hub limits them, for all clients together (fact reading.questions). */
const everyMs = 1_000;
const mostWaiting = 1_000;

/** Reports each gap of a session once, with its reason: counted, logged, tapped (D191; facts events.sequence, reading.before-oldest). */
export function createGapReports(
  partition: string,
  oldestOf: () => Promise<number>,
  troubles: Pick<Troubles, 'raise'>,
  meter: Pick<Meter, 'counter'>,
  taps?: Pick<Taps, 'all'>,
) {
  const count = meter.counter('device_messaging.gaps');
  const waiting: Gap[] = [];
  /** The open question is about so many, the first of those that wait. */
  let asked = 0;
  let isAsking = false;

  function tell({ after, next }: Gap, reason: 'retention' | 'unknown') {
    const told = { after, missing: next - after - 1, reason };
    const fields = { partition, ...told };
    count(reason);
    taps?.all({ partition, sequenceNumber: next })?.('gap', told);
    const message = 'events of the partition are missing';
    troubles.raise(`partition ${partition}: gap, ${reason}`, { level: 'warn', message, fields });
  }

  /** @param oldest event that the hub keeps, as far as is known */
  function tellFirst(most: number, oldest = 0) {
    asked = 0;
    for (const gap of waiting.splice(0, most)) tell(gap, oldest >= gap.next ? 'retention' : 'unknown');
  }

  async function ask() {
    isAsking = true;
    while (waiting.length > 0) {
      asked = waiting.length;
      const oldest = await oldestOf().catch(() => undefined);
      tellFirst(asked, oldest);
      await new Promise<void>((resolve) => setTimeout(resolve, everyMs).unref());
    }
    isAsking = false;
  }

  return {
    report(gap: Gap) {
      if (waiting.length - asked === mostWaiting) tell(gap, 'unknown');
      else waiting.push(gap);
      if (!isAsking) void ask();
    },
    close: () => tellFirst(waiting.length),
  };
}
