import { setMaxListeners } from 'node:events';
import { monotonicOfPast } from '../concurrency/clocks.ts';
import { createCondition } from '../concurrency/waiting.ts';
import type { Step } from '../observing/observation.ts';
import type { HubEvent } from '../protocol/event.ts';
import { type CheckpointOptions, createCheckpoints } from './checkpointWriter.ts';
import { createIntake, type DeviceEvent, type IntakeOptions } from './intake.ts';
import { createLanes, type Lane } from './lanes.ts';
import type { RedeliveryHorizon } from './progressTracker.ts';
import { createQuarantine, type QuarantineOptions } from './quarantine.ts';
import type { Backlog } from './rooms.ts';
import type { Position } from './watermark.ts';
import { createWork, type QueuedMessage, type WorkOptions } from './work.ts';

export interface PartitionOptions<A extends DeviceEvent>
  extends CheckpointOptions,
    Pick<IntakeOptions<A>, 'costOf' | 'dependenciesOf' | 'publisherOf'>,
    Pick<WorkOptions<A>, 'budget' | 'dispatch'> {
  readonly backlog: Backlog;
  /** Reads an event; undefined when it is to be skipped. @param redelivered its handling may have begun before */
  receivedMessageOf(event: HubEvent, redelivered: boolean): A | undefined;
  readonly redeliveryHorizon: RedeliveryHorizon;
  /** The hub numbers events without gaps, but there were none between these two events of this session. */
  onGap?(gap: Gap): void;
  /** For sessions after unclean shutdowns (G4); when omitted, no message is a suspect. */
  readonly quarantine?: Pick<QuarantineOptions, 'mostSuspects' | 'turnstile' | 'log' | 'meter'>;
}

export type Gap = Readonly<Record<'after' | 'next', number>>;

/** How long a drain waits for messages in flight to leave, after it has told them to. */
const leaveMs = 1_000;

export type Partition = ReturnType<typeof createPartition>;

export function createPartition<A extends DeviceEvent>(options: PartitionOptions<A>) {
  const { budget, receivedMessageOf, redeliveryHorizon, onTrouble } = options;
  const condition = createCondition();
  const stopping = new AbortController();
  /** The partition is released or revoked: messages in flight make no calls and send no replies. */
  const ending = new AbortController();
  const [draining, ended] = [stopping.signal, ending.signal];
  for (const signal of [draining, ended]) setMaxListeners(0, signal); // each message in flight adds one
  const checkpoints = createCheckpoints({ ...options, onRevoked: revokedMeanwhile });
  const backlog = options.backlog.ofPartition(condition.changed);
  const quarantine =
    options.quarantine &&
    createQuarantine({
      ...{ ...options.quarantine, draining },
      crashRecord: options.progress?.note,
      recordCrashState: checkpoints.recordCrashState,
    });
  const work = createWork<A>({ ...options, draining, ended, backlog, checkpoints, quarantine, condition });
  const lanes = createLanes<QueuedMessage<A>>({
    ...{ quarantine, budget, backlog, draining },
    ...{ work: work.handle, ended: condition.changed },
  });
  const admit = createIntake<A>({
    ...{ ...options, lanes, quarantine, condition, draining },
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
    if (draining.aborted) return;
    stopping.abort();
    backlog.close();
    condition.changed();
  }

  /** Ownership is lost: accepts, begins and writes nothing more; messages in flight end at their next step. */
  function revoke() {
    checkpoints.stop(true);
    drain();
    ending.abort();
    condition.changed();
  }

  function revokedMeanwhile() {
    if (ended.aborted) return;
    revoke();
    options.onRevoked();
  }

  /** What an event waits for on its way in; undefined when for nothing. A fault with it must not stop the events after it (G4). */
  function takenIn(event: HubEvent, readAt: number): Promise<void> | undefined {
    const { sequenceNumber, enqueuedTimeUtc } = event;
    try {
      const receivedMessage = checkpoints.isDone(sequenceNumber)
        ? undefined
        : receivedMessageOf(event, redeliveryHorizon.redelivered(sequenceNumber, enqueuedTimeUtc));
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

  async function admitAll(events: readonly HubEvent[], readAt: number) {
    const first = events.find(isNew)?.enqueuedTimeUtc;
    atTheDoor = first && monotonicOfPast(first.getTime());
    if (events.length > 0) await redeliveryHorizon.look();
    for (const event of events) {
      if (draining.aborted) break;
      if (hasPlace(event)) {
        if (!isNew(event)) continue;
        const next = event.sequenceNumber;
        if (previous !== undefined && next > previous + 1) options.onGap?.({ after: previous, next });
        previous = next;
      }
      const waiting = takenIn(event, readAt);
      if (waiting === undefined) continue;
      atTheDoor = monotonicOfPast(event.enqueuedTimeUtc.getTime());
      await waiting;
    }
    atTheDoor = undefined;
  }

  return {
    /** In hub order; resolves when there is room for more. Skips what was admitted before, which a new subscription repeats. Never rejects. */
    admit(events: readonly HubEvent[]): Promise<void> {
      const readAt = performance.now();
      admitting = admitting.then(() => admitAll(events, readAt));
      return admitting;
    },
    /** The last admitted event: a new subscription resumes after it. */
    position: () => seen,
    /** What it holds. Walks over all lanes: only for when an operator asks. */
    contents() {
      const inFlight = work.running();
      let oldest: Lane<QueuedMessage<A>> | undefined;
      for (const lane of lanes.all())
        if (oldest === undefined || lane.first.sequenceNumber <= oldest.first.sequenceNumber) oldest = lane;
      return {
        inFlight,
        sleeping: work.sleeping(),
        waiting: Math.max(0, checkpoints.pending() - inFlight),
        devices: lanes.count(),
        oldest: oldest && {
          device: oldest.deviceId,
          sequenceNumber: oldest.first.sequenceNumber,
          readAt: oldest.first.readAt,
        },
        /** When the hub received the oldest event that is read and not done, as `performance.now()`. The one at the door comes after the lanes. */
        undoneSince: oldest?.first.enqueuedAt ?? atTheDoor,
        checkpoint: checkpoints.state(),
        /** Messages under suspicion of having ended the process (G4). */
        suspects: quarantine?.suspects() ?? 0,
      };
    },
    /** Walks over all lanes: only for when an operator asks. @param device only this one; undefined for all */
    devices: (device: string | undefined): DeviceWork[] =>
      [...lanes.all()].filter(({ deviceId }) => device === undefined || deviceId === device).map(workOf),
    pending: checkpoints.pending,
    /** Begins no more, waits up to `limitMs`, tells the rest to leave, and writes the last checkpoint. Returns how many are left unfinished. */
    async drain(limitMs: number): Promise<number> {
      drain();
      // What sleeps is left for the next reader: others would wait for devices that do not fetch (C4).
      await condition.waitWhile(() => work.running() > work.sleeping(), limitMs);
      ending.abort();
      // A message whose reply was accepted at this moment still ends: the last checkpoint is to contain it (G3).
      await condition.waitWhile(() => work.running() > 0, leaveMs);
      await checkpoints.flush();
      checkpoints.stop(false);
      return checkpoints.pending();
    },
    revoke,
  };
}

/** What the oldest message of a device does or waits for, for operators. */
export type DeviceWork = ReturnType<typeof workOf>;

const workOf = ({ deviceId, length, wait, first }: Lane<QueuedMessage<unknown>>) => ({
  device: deviceId,
  messages: length,
  sequenceNumber: first.sequenceNumber,
  /** When the oldest was read from the hub, as `performance.now()`. */
  readAt: first.readAt,
  state: typeof wait === 'object' ? ('waits for backends' as const) : states[wait ?? 'none'],
  needs: typeof wait === 'object' ? (wait.needs ?? []) : [],
  /** When its handling began, as `performance.now()`; undefined while it waits. */
  begunAt: first.observation?.begunAt,
  steps: [...(first.observation?.open ?? [])] as readonly Step[],
});

const states = { none: 'in flight', room: 'waits for room', turn: 'waits for its turn' } as const;
