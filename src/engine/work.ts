import type { Condition } from '../concurrency/waiting.ts';
import type { Observation } from '../observing/observation.ts';
import { type ChargeOptions, createCharge, type MessageCharge } from './charge.ts';
import type { CheckpointOptions, Checkpoints } from './checkpointWriter.ts';
import type { Queued } from './lanes.ts';
import type { Quarantine } from './quarantine.ts';
import type { WorkHandle } from './watermark.ts';

export interface QueuedMessage<A> extends Queued {
  readonly receivedMessage: A;
  /** Since it was accepted. */
  begun: WorkHandle;
  /** Since its handling has begun. */
  observation?: MessageWork | undefined;
  /** When it was read from the hub, as `performance.now()`. */
  readonly readAt: number;
  /** When the hub received it, as `performance.now()`. */
  readonly enqueuedAt: number;
}

type MessageWork = Pick<Observation, 'begunAt' | 'open'>;

/** What the handling of a message gets from its partition, and tells it. */
export interface MessageContext {
  readonly charge: MessageCharge;
  begins?(observation: MessageWork): void;
  /** Only replies to other devices are left: the next message of the device may begin (A12). */
  nextMayBegin(): void;
  /** It has failed through our side, and ends: is in a checkpoint before the next message of the device begins (G3). */
  failed(): void;
  /** When aborted, the message makes no more calls and sends no more replies. */
  readonly ended: AbortSignal;
  /** When the message was read from the hub, as `performance.now()`; absent when it comes from the dead letters. */
  readonly readAt?: number;
  /** The message is not executed, but answered with a failure of the service and parked (G4). */
  readonly parkUnexecuted?: boolean;
}

export interface WorkOptions<A> extends ChargeOptions, Pick<CheckpointOptions, 'onTrouble'> {
  readonly checkpoints: Pick<Checkpoints, 'end' | 'recordEnds'>;
  readonly quarantine: Quarantine | undefined;
  readonly condition: Condition;
  readonly draining: AbortSignal;
  dispatch(receivedMessage: A, context: MessageContext): Promise<boolean>;
}

export function createWork<A>(options: WorkOptions<A>) {
  const { budget, checkpoints, quarantine, condition, draining, ended, dispatch, onTrouble } = options;
  let running = 0;
  let sleeping = 0;
  /**
   * By device, whether its newest message is recorded as done, from when one lets the next begin (A12). What is done of a device is always its
   * first messages: the repeat of an earlier one alone would undo later ones (G3).
   */
  const recording = new Map<string, Promise<boolean>>();

  async function carriedOut(receivedMessage: A, context: MessageContext): Promise<boolean> {
    running += 1;
    try {
      return await dispatch(receivedMessage, context);
    } catch (error) {
      onTrouble(error, 'message given up');
      return true;
    } finally {
      running -= 1;
    }
  }

  function countSleeping(more: 1 | -1) {
    sleeping += more;
    if (more > 0 && draining.aborted) condition.changed();
  }

  async function handled(message: QueuedMessage<A>, deviceId: string, nextMayBegin: () => void): Promise<void> {
    const { receivedMessage, begun, readAt, sequenceNumber } = message;
    const fate = quarantine?.fateOf(sequenceNumber);
    const isSuspect = quarantine?.isInWork(sequenceNumber);
    const earlier = recording.get(deviceId);
    let hasFailed = false;
    let recorded: ((isRecorded: boolean) => void) | undefined;

    /** The messages of the device that follow are recorded as done after this one. */
    function recordBeforeLater() {
      const whole = new Promise<boolean>((resolve) => {
        recorded = resolve;
      });
      recording.set(deviceId, whole);
      void whole.then(() => recording.get(deviceId) === whole && recording.delete(deviceId));
    }

    const isFollowed = () => message.next !== undefined;
    const charge = createCharge(message.cost, options, isFollowed, (isAsleep) => {
      countSleeping(isAsleep ? 1 : -1);
      if (isAsleep) quarantine?.sleeps(sequenceNumber);
    });
    if (earlier !== undefined) recordBeforeLater();
    const context: MessageContext = {
      charge,
      begins(observation) {
        message.observation = observation;
      },
      nextMayBegin() {
        if (isSuspect) return; // nothing else of its device may be in work (G4)
        if (earlier === undefined) recordBeforeLater();
        nextMayBegin();
      },
      failed() {
        hasFailed = true;
      },
      ended,
      readAt,
      parkUnexecuted: fate === 'parked',
    };
    const isHandled = fate === 'passed over' || (await carriedOut(receivedMessage, context));
    const left = charge.end();
    let isRecorded = isHandled;
    if (isHandled && earlier !== undefined) {
      const leave = budget.sleeping.addBehind(left);
      // Without room, no more of its device come to wait there.
      if (!hasFailed && budget.sleeping.hasRoomBehind()) nextMayBegin();
      isRecorded = await isRecordedBehind(earlier);
      leave();
    } else if (!hasFailed) nextMayBegin();
    if (isRecorded) checkpoints.end(begun);
    // Its repeat may succeed, behind later messages which the backends know already.
    if (hasFailed && isRecorded) await checkpoints.recordEnds(draining);
    nextMayBegin();
    if (recorded === undefined) return;
    recorded(isRecorded);
    condition.changed();
  }

  async function isRecordedBehind(earlier: Promise<boolean>): Promise<boolean> {
    running += 1;
    countSleeping(1);
    const isRecorded = await earlier;
    running -= 1;
    countSleeping(-1);
    return isRecorded;
  }

  return {
    /** Handles a message that is already charged to the budget; resolves when the next one of the device may begin. Never rejects. */
    handle: (message: QueuedMessage<A>, deviceId: string): Promise<void> =>
      new Promise((resolve) => void handled(message, deviceId, resolve)),
    running: () => running,
    /** Those of them that wait for the full queues of devices, or behind such a message of their device to be recorded (A12). */
    sleeping: () => sleeping,
  };
}
