import { setMaxListeners } from 'node:events';
import { monotonicOfPast } from '../concurrency/clocks.ts';
import { createCondition } from '../concurrency/waiting.ts';
import type { HubEvent } from '../protocol/event.ts';
import { type CheckpointOptions, createCheckpoints } from './checkpointWriter.ts';
import { contentsOf, deviceWorkIn } from './contents.ts';
import { createIntake, type DeviceEvent, type IntakeOptions } from './intake.ts';
import { createLanes } from './lanes.ts';
import type { RedeliveryHorizon } from './progressTracker.ts';
import { createQuarantine, type QuarantineOptions } from './quarantine.ts';
import type { Backlog } from './rooms.ts';
import type { Position } from './watermark.ts';
import { createWork, type QueuedMessage, type WorkOptions } from './work.ts';

export interface PartitionOptions<A extends DeviceEvent>
  extends CheckpointOptions,
    Pick<IntakeOptions<A>, 'costOf' | 'dependenciesOf' | 'publisherOf'>,
    Pick<WorkOptions<A>, 'budget' | 'dispatch' | 'onTrouble'> {
  /** Of all partitions. */
  readonly backlog: Backlog;
  /**
   * Reads an event; undefined when it is to be skipped.
   * @param redelivered its handling may have begun before
   */
  receivedMessageOf(event: HubEvent, redelivered: boolean): A | undefined;
  readonly redeliveryHorizon: RedeliveryHorizon;
  /** The hub numbers events without gaps, but there were none between these two events of this session. */
  onGap?(gap: Gap): void;
  /** For sessions after unclean shutdowns (G4); when omitted, no message is a suspect. */
  readonly quarantine?: Pick<QuarantineOptions, 'mostSuspects' | 'turnstile' | 'log' | 'meter'>;
}

/** Sequence numbers that are missing between two events. */
export interface Gap {
  readonly after: number;
  readonly next: number;
}

/** How long a drain waits for messages in flight to leave, after it has told them to. */
const leaveMs = 1_000;

export type Partition = ReturnType<typeof createPartition>;

/** One partition of the hub while this instance owns it. */
export function createPartition<A extends DeviceEvent>(options: PartitionOptions<A>) {
  const { budget, receivedMessageOf, redeliveryHorizon, onTrouble } = options;
  const condition = createCondition();
  /** No more messages begin. */
  const draining = new AbortController();
  /** The partition is released or revoked: messages in flight make no calls and send no replies. */
  const ended = new AbortController();
  const signals = { draining: draining.signal, ended: ended.signal };
  for (const signal of Object.values(signals)) setMaxListeners(0, signal); // each message in flight adds one
  const checkpoints = createCheckpoints({ ...options, onRevoked: revokedMeanwhile });
  const backlog = options.backlog.ofPartition(condition.changed);
  const quarantine =
    options.quarantine &&
    createQuarantine({
      ...options.quarantine,
      crashRecord: options.progress?.note,
      recordCrashState: checkpoints.recordCrashState,
      draining: draining.signal,
    });
  const work = createWork<A>({ ...options, ...signals, backlog, checkpoints, quarantine, condition });
  const lanes = createLanes<QueuedMessage<A>>({
    ...{ quarantine, budget, backlog },
    draining: draining.signal,
    work: work.handle,
    ended: condition.changed,
  });
  const admit = createIntake<A>({
    ...options,
    ...{ lanes, quarantine, condition },
    draining: draining.signal,
    // The event counts as read from here, not from after the await: a drain may ask before.
    begin: (event) => checkpoints.begin(see(event)),
  });
  let seen: Position | undefined = options.progress;
  /** When the hub received the event that is being taken in, as `performance.now()`; it may have to wait for room. */
  let atTheDoor: number | undefined;
  /** Sequence number of the last event of this session. */
  let previous: number | undefined;
  let admitting = Promise.resolve();

  function see({ sequenceNumber, offset }: HubEvent): Position {
    seen = { sequenceNumber, offset };
    return seen;
  }

  function drain() {
    if (draining.signal.aborted) return;
    draining.abort();
    backlog.close();
    condition.changed();
  }

  /** Ownership is lost: accepts, begins and writes nothing more; messages in flight end at their next step. */
  function revoke() {
    checkpoints.stop(true);
    drain();
    ended.abort();
    condition.changed();
  }

  /** Revoked by the result of a checkpoint. */
  function revokedMeanwhile() {
    if (ended.signal.aborted) return;
    revoke();
    options.onRevoked();
  }

  /**
   * What an event waits for on its way in; undefined when for nothing. A fault with it must not stop the events after it (G4).
   */
  function takenIn(event: HubEvent, readAt: number): Promise<void> | undefined {
    const { sequenceNumber } = event;
    try {
      const receivedMessage = checkpoints.isDone(sequenceNumber)
        ? undefined
        : receivedMessageOf(event, redeliveryHorizon.redelivered(sequenceNumber));
      if (receivedMessage !== undefined) return admit(receivedMessage, readAt);
    } catch (error) {
      onTrouble(error, 'event passed over');
    }
    if (hasPlace(event)) checkpoints.pass(see(event));
    return undefined;
  }

  /** Without its number, an event has no position to pass: the next event shows the gap (D190). */
  const hasPlace = ({ sequenceNumber }: HubEvent) => sequenceNumber !== undefined;

  const isNew = ({ sequenceNumber }: HubEvent) => seen === undefined || sequenceNumber > seen.sequenceNumber;

  function reportGap(next: number) {
    if (previous !== undefined && next > previous + 1) options.onGap?.({ after: previous, next });
    previous = next;
  }

  async function admitAll(events: readonly HubEvent[], readAt: number) {
    const first = events.find(isNew)?.enqueuedTimeUtc;
    atTheDoor = first && monotonicOfPast(first.getTime());
    if (events.length > 0) await redeliveryHorizon.look();
    for (const event of events) {
      if (draining.signal.aborted) return;
      if (hasPlace(event)) {
        if (!isNew(event)) continue;
        reportGap(event.sequenceNumber);
      }
      const waiting = takenIn(event, readAt);
      if (waiting === undefined) continue;
      atTheDoor = monotonicOfPast(event.enqueuedTimeUtc.getTime());
      await waiting;
    }
  }

  async function admitAndForget(events: readonly HubEvent[], readAt: number) {
    await admitAll(events, readAt);
    atTheDoor = undefined;
  }

  return {
    /**
     * Accepts events in hub order; resolves when there is room for more. Skips events that were admitted before: a new
     * subscription repeats them while those of the old one still wait for room. Never rejects.
     */
    admit(events: readonly HubEvent[]): Promise<void> {
      const readAt = performance.now();
      admitting = admitting.then(() => admitAndForget(events, readAt));
      return admitting;
    },
    /** The last admitted event: a new subscription resumes after it. */
    position: () => seen,
    /** For operators; walks over all lanes. */
    contents: () => contentsOf({ checkpoints, work, lanes, quarantine, atTheDoor }),
    /** The devices with messages here, or one of them. */
    devices: (device: string | undefined) => deviceWorkIn(lanes, device),
    /** Messages read and not handled to their end. */
    pending: checkpoints.pending,
    /**
     * Accepts and begins no more messages, waits up to `limitMs` for those in flight, tells the rest to leave, and writes
     * the last checkpoint.
     * Returns how many messages remain for the next reader.
     */
    async drain(limitMs: number): Promise<number> {
      drain();
      // What sleeps is left for the next reader: others would wait for devices that do not fetch (C4).
      await condition.waitWhile(() => work.running() > work.sleeping(), limitMs);
      ended.abort();
      // A message whose reply was accepted at this moment still ends: the last checkpoint is to contain it (G3).
      await condition.waitWhile(() => work.running() > 0, leaveMs);
      await checkpoints.flush();
      checkpoints.stop(false);
      return checkpoints.pending();
    },
    revoke,
  };
}
