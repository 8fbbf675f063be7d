import type { LogText as LogMessage } from '../observing/events.ts';
import type { PartitionBacklog } from './backlog.ts';
import type { Budget } from './budget.ts';
import type { MessageWork } from './contents.ts';
import type { Queued } from './lanes.ts';
import type { Fate } from './quarantine.ts';
import type { Sleeper } from './sleeping.ts';
import type { WorkHandle } from './watermark.ts';

/** A message to be handled. */
export interface QueuedMessage<A> extends Queued {
  readonly arrival: A;
  readonly begun: WorkHandle;
  /** Since its handling has begun. */
  course?: MessageWork | undefined;
  /** When it was read from the hub, as `performance.now()`. */
  readonly readAt: number;
  /** When the hub received it, as `performance.now()`. */
  readonly enqueuedAt: number;
}

/** What the handling of a message can ask of its partition. */
export interface MessageContext {
  /** Releases bytes that were reserved for the message and are not needed (R6). */
  releaseBytes(bytes: number): void;
  /** It waits for a backend that is down or for room, or its replies are tried again: moves its charge to `answering`, if it fits (D28). */
  waiting(): void;
  /** Only its replies are left, and the message takes so many bytes: moves the charge from the budget to `answering`, if it fits (D28). */
  answering(bytes: number): void;
  /**
   * All replies that are left wait for the full queues of their devices: gives the charge back, and moves it to `sleeping` (C4).
   * @param giveUp ends the waiting; may be called before this returns
   */
  sleeps(giveUp: () => void): void;
  /** One of these replies is tried again. */
  wakes(): void;
  /** Only replies to other devices are left: the next message of the device may begin (A12). */
  nextMayBegin(): void;
  /** It waits for the store of dead letters, and only these bytes are left: moves the charge to the backlog, if it fits (G4). */
  parking(bytes: number): void;
  /**
   * Takes room for so many bytes of answers of backends, once; undefined when there is some at once.
   * @returns false, and nothing is taken, when this instance no longer handles the message
   */
  takeForAnswers(bytes: number): Promise<boolean> | undefined;
  /** Gives a part of that room back; the rest goes with the message. */
  giveFromAnswers(bytes: number): void;
  /** It has failed through our side, and ends: is in a checkpoint before the next message of the device begins (G3). */
  failed(): void;
  /** Its handling begins: `course` is what it does from now on. */
  begins?(course: MessageWork): void;
  /** When aborted, the message makes no more calls and sends no more replies. */
  readonly ended: AbortSignal;
  /** When the message was read from the hub, as `performance.now()`; absent when it comes from the dead letters. */
  readonly readAt?: number;
  /** The message is not executed, but answered with a failure of the service and parked (G4). */
  readonly parkUnexecuted?: boolean;
}

interface WorkOptions<A> extends Pick<MessageContext, 'ended'> {
  /** When aborted, whoever waits for the end of the messages is told when one sleeps. */
  readonly draining: AbortSignal;
  readonly budget: Budget;
  readonly backlog: Pick<PartitionBacklog, 'hasRoom' | 'enter' | 'leave'>;
  dispatch(arrival: A, context: MessageContext): Promise<boolean>;
  onTrouble(error: unknown, what: LogMessage<'error'>): void;
  /** A message has been handled to its end. */
  end(begun: WorkHandle): void;
  /** Resolves when a checkpoint contains what has ended until now, or the next reader will not find out more. */
  recordEnds(): Promise<void>;
  /** Of a message that may have ended the process (G4). */
  fateOf(sequenceNumber: number): Fate;
  /** Whether it may have ended the process, and is in work: nothing else of its device may be (G4). */
  isSuspect(sequenceNumber: number): boolean;
  /** Only replies that wait for full queues are left of a message. */
  sleeps(sequenceNumber: number): void;
  /** A message sleeps, or has been recorded behind an earlier one. */
  changed(): void;
}

export interface Work<A> {
  /**
   * Handles a message that is already charged to the budget. Never rejects.
   * @returns when the next message of the device may begin
   */
  handle(message: QueuedMessage<A>, deviceId: string): Promise<void>;
  /** Messages that have begun and not ended. */
  running(): number;
  /** Those of them that wait for the full queues of devices, or behind such a message of their device to be recorded (A12). */
  sleeping(): number;
}

export function createWork<A>(options: WorkOptions<A>): Work<A> {
  const { budget, backlog, dispatch, draining, ended, end, onTrouble, changed } = options;
  let running = 0;
  let sleeping = 0;
  /**
   * By device, whether its newest message has been recorded as done, from when one of its messages lets the next begin (A12). What is done of a
   * device is always its first messages: after a crash, the repeat of an earlier one alone would undo later ones (G3).
   */
  const recording = new Map<string, Promise<boolean>>();

  /** Returns whether the message was handled to its end. */
  async function carriedOut(arrival: A, context: MessageContext): Promise<boolean> {
    running += 1;
    try {
      return await dispatch(arrival, context);
    } catch (error) {
      onTrouble(error, 'message given up');
      return true;
    } finally {
      running -= 1;
    }
  }

  async function handled(message: QueuedMessage<A>, deviceId: string, nextMayBegin: () => void): Promise<void> {
    const { arrival, cost, begun, readAt, sequenceNumber } = message;
    const fate = options.fateOf(sequenceNumber);
    const isSuspect = options.isSuspect(sequenceNumber);
    const earlier = recording.get(deviceId);
    const charge = budget.of(cost);
    let held = cost;
    /** Undefined while it has no room for answers of its own. */
    let answers: number | undefined;
    let isAside = false;
    let isParking = false;
    let sleeper: Sleeper | undefined;
    let isAsleep = false;
    let isOver = false;
    let hasFailed = false;
    let recorded: ((isRecorded: boolean) => void) | undefined;

    function leavePlace() {
      if (sleeper) sleeper.leave();
      else if (!isParking) (isAside ? budget.answering : charge).give(held);
      else if (!draining.aborted) backlog.leave(held); // else it is freed already
      sleeper = undefined;
      isAside = false;
      isParking = false;
    }

    function leaveAnswers(): number {
      const left = answers ?? 0;
      if (answers !== undefined) budget.answers.give(left);
      answers = undefined;
      return left;
    }

    function releaseBytes(bytes: number) {
      held -= bytes;
      if (sleeper) sleeper.shrink(bytes);
      else if (isAside) budget.answering.give(bytes, 0);
      else charge.shrink(bytes);
    }

    /** Leaves the charge where it is when `answering` has no room. */
    function moveAside() {
      if (isAside || isParking || !budget.answering.take(held)) return;
      leavePlace();
      isAside = true;
    }

    function setAsleep(next: boolean) {
      if (next !== isAsleep) sleeping += next ? 1 : -1;
      isAsleep = next;
      if (next && draining.aborted) changed();
    }

    /** The messages of the device that follow are recorded as done after this one. */
    function recordBeforeLater() {
      const whole = new Promise<boolean>((resolve) => {
        recorded = resolve;
      });
      recording.set(deviceId, whole);
      void whole.then(() => recording.get(deviceId) === whole && recording.delete(deviceId));
    }

    if (earlier !== undefined) recordBeforeLater();
    const context: MessageContext = {
      releaseBytes,
      waiting: moveAside,
      answering(bytes) {
        releaseBytes(held - bytes);
        moveAside();
      },
      takeForAnswers(bytes) {
        const taken = () => {
          if (isOver) budget.answers.give(bytes);
          else answers = bytes;
        };
        const taking = budget.answers.take(bytes, ended);
        if (taking === undefined) taken();
        return taking?.then((isTaken) => {
          if (isTaken) taken();
          return isTaken;
        });
      },
      giveFromAnswers(bytes) {
        if (answers === undefined) return releaseBytes(bytes); // they sleep with the message, or have slept
        answers -= bytes;
        budget.answers.shrink(bytes);
      },
      sleeps(giveUp) {
        if (sleeper === undefined) {
          leavePlace();
          held += leaveAnswers();
          sleeper = budget.sleeping.add(held, () => message.next !== undefined);
        }
        setAsleep(true);
        options.sleeps(sequenceNumber);
        sleeper.sleeps(giveUp);
      },
      wakes() {
        setAsleep(false);
        sleeper?.wakes();
      },
      parking(bytes) {
        if (isParking || draining.aborted || !backlog.hasRoom(bytes, [])) return;
        leavePlace();
        isParking = true;
        held = bytes;
        backlog.enter(bytes, []);
      },
      nextMayBegin() {
        if (isSuspect) return;
        if (earlier === undefined) recordBeforeLater();
        nextMayBegin();
      },
      failed() {
        hasFailed = true;
      },
      begins(course) {
        message.course = course;
      },
      ended,
      readAt,
      parkUnexecuted: fate === 'parked',
    };
    const isHandled = fate === 'passed over' || (await carriedOut(arrival, context));
    isOver = true;
    leavePlace();
    leaveAnswers();
    setAsleep(false);
    if (!hasFailed) nextMayBegin();
    const isRecorded = isHandled && (earlier === undefined || (await isRecordedBehind(earlier)));
    if (isRecorded) end(begun);
    if (hasFailed) {
      // Its repeat may succeed, behind later messages which the backends know already.
      if (isRecorded) await options.recordEnds();
      nextMayBegin();
    }
    if (recorded === undefined) return;
    recorded(isRecorded);
    changed();
  }

  /** Counts as sleeping meanwhile. */
  async function isRecordedBehind(earlier: Promise<boolean>): Promise<boolean> {
    running += 1;
    sleeping += 1;
    if (draining.aborted) changed();
    const isRecorded = await earlier;
    running -= 1;
    sleeping -= 1;
    return isRecorded;
  }

  return {
    handle: (message, deviceId) => new Promise((resolve) => void handled(message, deviceId, resolve)),
    running: () => running,
    sleeping: () => sleeping,
  };
}
