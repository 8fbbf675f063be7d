import type { HubEvent } from '../../protocol/event.ts';
import type { QuarantineOptions } from '../quarantine/quarantine.ts';
import { createBacklog } from './backlog.ts';
import type { Budget } from './budget.ts';
import { type CheckpointLimits, type CheckpointOptions, createCheckpoints } from './checkpoints.ts';
import { createCondition } from './condition.ts';
import { type Arriving, createIntake } from './intake.ts';
import { createLanes, type Requirement } from './lanes.ts';
import { createLifecycle } from './lifecycle.ts';
import type { RedeliveryHorizon } from './redeliveryHorizon.ts';
import { createScreening, type Screening } from './screening.ts';
import type { Spool } from './spool.ts';
import type { Position } from './watermark.ts';
import { createWork, type Message, type MessageContext } from './work.ts';

/** What a partition needs of the rest of the service. */
export interface PartitionOptions<A extends Arriving> extends Omit<CheckpointOptions, 'limits' | 'onRevoked'> {
  /** Of this partition, and through it the overall one. */
  readonly budget: Budget;
  /**
   * What is to be dispatched of an event; undefined when it is to be passed over.
   * @param mayBeRepeat somebody may have handled it before, without having come to write that down
   */
  arrivalOf(event: HubEvent, redelivered: boolean): A | undefined;
  /** Bytes to reserve for a message before its handling begins (R6). */
  costOf(event: HubEvent): number;
  /** What has to be there before the message begins (B5); nothing when it is left out. */
  requirementOf?(arrival: A): Requirement | undefined;
  /** Handles one message; never rejects. Answers whether it has been handled to its end. */
  dispatch(arrival: A, context: MessageContext): Promise<boolean>;
  readonly redeliveryHorizon: RedeliveryHorizon;
  /** Something that must not happen has happened, and the partition goes on. */
  onTrouble(error: unknown, what: string): void;
  /** Revoked, although this instance did not do it: another one owns the partition, or the spool has lost messages. */
  onRevoked(): void;
  readonly spool: Spool;
  /** For what comes after violent ends (G4); nobody is suspected when it is left out. */
  readonly quarantine?: Pick<QuarantineOptions, 'mostSuspects' | 'longestMs' | 'log'>;
  readonly limits: PartitionLimits;
}

export interface PartitionLimits extends CheckpointLimits {
  /** Most messages of one device that are kept in memory; the others wait in the spool. */
  readonly deviceMessages: number;
}

/** One partition of the hub while this instance owns it. */
export interface Partition {
  /**
   * Takes events in hub order; answers when there is room for more. What it has seen before, it passes over, also when
   * a new subscription gives it again while the old one's are still waiting for room. Never rejects.
   */
  admit(events: readonly HubEvent[]): Promise<void>;
  /** Where to read on. */
  position(): Position | undefined;
  /**
   * Takes nothing more and begins nothing more, waits for what is running, up to `limitMs`, and writes the last
   * checkpoint. Answers how many messages are left for the next reader.
   */
  drain(limitMs: number): Promise<number>;
  /** Ownership is lost: takes, begins and writes nothing any more, and what is running ends at its next step. */
  revoke(): void;
}

export function createPartition<A extends Arriving>(options: PartitionOptions<A>): Partition {
  const { budget, arrivalOf, spool, limits, redeliveryHorizon, onTrouble } = options;
  const condition = createCondition();
  const life = createLifecycle(() => {
    backlog.clear();
    condition.changed();
  });
  const checkpoints = createCheckpoints({ ...options, onRevoked: revokedMeanwhile });
  const backlog = createBacklog<A>({ room: budget.waiting, spool, onTrouble });
  const screening: Screening<Message<A>> | undefined =
    options.quarantine &&
    createScreening<Message<A>>({
      ...options.quarantine,
      note: options.progress?.note,
      annotate: checkpoints.annotate,
      alone: budget.alone,
      draining: life.draining,
      handleAlone: (message, tooLong) => work.handleAlone(message, tooLong),
      passOver: ({ begun }) => checkpoints.end(begun),
      changed: condition.changed,
    });
  const work = createWork<A>({
    ...options,
    repeatOf: (arrival) => arrivalOf(arrival.event, true) ?? arrival,
    mustBeParked: (sequenceNumber) => screening?.mustBeParked(sequenceNumber) ?? false,
    backlog,
    arrivalIn,
    draining: life.draining,
    ended: life.ended,
    end: checkpoints.end,
    onUnreadable: revokedMeanwhile,
    changed: condition.changed,
  });
  const lanes = createLanes<Message<A>>({
    screening,
    budget,
    draining: life.draining,
    work: work.handle,
    ended: condition.changed,
  });
  const takeIn = createIntake<A>({
    ...options,
    lanes,
    screening,
    backlog,
    condition,
    draining: life.draining,
    begin(event) {
      seen = positionOf(event); // at once: a stop may come before the next event's turn, and asks how far this came
      return checkpoints.begin(seen);
    },
    deviceMessages: limits.deviceMessages,
  });
  let seen: Position | undefined = options.progress;
  let admitting = Promise.resolve();

  function revoke() {
    checkpoints.stop(true);
    life.revoke();
    condition.changed();
  }

  /** By the store, or by a spool that has lost messages. */
  function revokedMeanwhile() {
    if (life.ended.aborted) return;
    revoke();
    options.onRevoked();
  }

  /** What is to be dispatched. An event that cannot even be looked at must not stop those behind it (G4). */
  function arrivalIn(event: HubEvent): A | undefined {
    try {
      return arrivalOf(event, redeliveryHorizon.redelivered(event.sequenceNumber));
    } catch (error) {
      onTrouble(error, 'event passed over');
      return undefined;
    }
  }

  async function admitAll(events: readonly HubEvent[]) {
    if (events.length > 0) await redeliveryHorizon.look();
    for (const event of events) {
      if (life.state() !== 'reading') return;
      if (seen && event.sequenceNumber <= seen.sequenceNumber) continue;
      const arrival = checkpoints.isDone(event.sequenceNumber) ? undefined : arrivalIn(event);
      if (arrival) await takeIn(arrival);
      else {
        seen = positionOf(event);
        checkpoints.pass(seen);
      }
    }
  }

  return {
    admit(events) {
      admitting = admitting.then(() => admitAll(events));
      return admitting;
    },
    position: () => seen,
    async drain(limitMs) {
      life.drain();
      await condition.waitWhile(() => work.running() > 0 || screening?.isTrying() === true, limitMs);
      life.release();
      await checkpoints.flush();
      checkpoints.stop(false);
      return checkpoints.pending();
    },
    revoke,
  };
}

const positionOf = ({ sequenceNumber, offset }: HubEvent): Position => ({ sequenceNumber, offset });
