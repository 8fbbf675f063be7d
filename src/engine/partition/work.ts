import type { LogText as LogMessage } from '../../log/events.ts';
import type { HubEvent } from '../../protocol/event.ts';
import type { Budget } from '../budget/budget.ts';
import type { MessageWork } from '../order/deviceWork.ts';
import type { Queued } from '../order/queued.ts';
import type { WorkHandle } from '../progress/watermark.ts';
import type { Fate } from '../quarantine/quarantine.ts';
import type { Backlog, StoredMessage } from '../spool/backlog.ts';

/** A message to be handled, and where it is stored until then. */
export interface QueuedMessage<A> extends Queued {
  /** After the fetch the message itself, which may have to be handled again. */
  kept: A | StoredMessage<A>;
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
  /** It waits for a backend that is down: moves its charge from the budget to `answering`, if it fits (D28). */
  waiting(): void;
  /** Only its replies are left, and the message takes so many bytes: moves the charge from the budget to `answering`, if it fits (D28). */
  answering(bytes: number): void;
  /**
   * Takes room for so many bytes of answers of backends, once; undefined when there is some at once.
   * @returns false, and nothing is taken, when this instance no longer handles the message
   */
  takeForAnswers(bytes: number): Promise<boolean> | undefined;
  /** Gives a part of that room back; the rest goes with the message. */
  giveFromAnswers(bytes: number): void;
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
  /** When aborted, no more messages begin: those that wait remain for the next reader. */
  readonly draining: AbortSignal;
  readonly budget: Budget;
  readonly backlog: Backlog<A>;
  /** Reads an event from the spool. */
  arrivalIn(event: HubEvent): A | undefined;
  dispatch(arrival: A, context: MessageContext): Promise<boolean>;
  onTrouble(error: unknown, what: LogMessage<'error'>): void;
  /** A message has been handled to its end. */
  end(begun: WorkHandle): void;
  /** A message cannot be fetched. */
  onUnreadable(): void;
  /** Of a message that may have ended the process (G4). */
  fateOf(sequenceNumber: number): Fate;
  /** A message has left the backlog. */
  changed(): void;
}

export interface Work<A> {
  /** Handles a message that is already charged to the budget, unless the partition drains. Never rejects. */
  handle(message: QueuedMessage<A>): Promise<void>;
  running(): number;
}

export function createWork<A extends { readonly event: HubEvent }>(options: WorkOptions<A>): Work<A> {
  const { budget, backlog, arrivalIn, dispatch, draining, ended, end, onTrouble, onUnreadable, changed } = options;
  let running = 0;

  async function fetched(kept: StoredMessage<A>): Promise<A | undefined> {
    try {
      const found = await backlog.fetch(kept);
      return 'event' in found ? found : arrivalIn(found);
    } catch (error) {
      if (!draining.aborted) onTrouble(error, 'spool cannot be read: reading the partition again from its checkpoint');
      onUnreadable();
      return undefined;
    }
  }

  /** Fetches and dispatches the message. Returns whether it was handled to its end; false when the partition drains. */
  async function carriedOut(message: QueuedMessage<A>, context: MessageContext): Promise<boolean> {
    const { kept } = message;
    const arrival = 'event' in kept ? kept : await fetched(kept);
    changed();
    if (draining.aborted) return false;
    if (arrival === undefined) return true;
    message.kept = arrival;
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

  /** Only its room is freed. */
  async function passedOver({ kept }: QueuedMessage<A>): Promise<boolean> {
    if (!('event' in kept)) await fetched(kept);
    return true;
  }

  return {
    async handle(message) {
      const { cost, begun, readAt, sequenceNumber } = message;
      const fate = options.fateOf(sequenceNumber);
      let held = cost;
      let isAside = false;
      /** Undefined while it has no room for answers. */
      let answers: number | undefined;
      let isOver = false;
      const charge = budget.of(cost);

      function giveBack() {
        isOver = true;
        (isAside ? budget.answering : charge).give(held);
        if (answers !== undefined) budget.answers.give(answers);
      }

      function releaseBytes(bytes: number) {
        held -= bytes;
        if (isAside) budget.answering.give(bytes, 0);
        else charge.shrink(bytes);
      }

      /** Leaves the charge where it is when `answering` has no room. */
      function moveAside() {
        if (isAside || !budget.answering.take(held)) return;
        charge.give(held);
        isAside = true;
      }

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
          answers = (answers ?? 0) - bytes;
          budget.answers.shrink(bytes);
        },
        begins(course) {
          message.course = course;
        },
        ended,
        readAt,
        parkUnexecuted: fate === 'parked',
      };
      const isHandled = fate === 'passed over' ? await passedOver(message) : await carriedOut(message, context);
      giveBack();
      if (isHandled) end(begun);
    },
    running: () => running,
  };
}
