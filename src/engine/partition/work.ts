import type { LogText as LogMessage } from '../../log/events.ts';
import type { Budget } from '../budget/budget.ts';
import type { MessageWork } from '../order/deviceWork.ts';
import type { Queued } from '../order/queued.ts';
import type { WorkHandle } from '../progress/watermark.ts';
import type { Fate } from '../quarantine/quarantine.ts';

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
  /** It waits for a backend that is down: moves its charge from the budget to `answering`, if it fits (D28). */
  waiting(): void;
  /**
   * Only replies of this size are left: moves the charge from the budget to `answering`, if it fits (D28).
   */
  answering(bytes: number): void;
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
  readonly budget: Budget;
  dispatch(arrival: A, context: MessageContext): Promise<boolean>;
  onTrouble(error: unknown, what: LogMessage<'error'>): void;
  /** A message has been handled to its end. */
  end(begun: WorkHandle): void;
  /** Of a message that may have ended the process (G4). */
  fateOf(sequenceNumber: number): Fate;
}

export interface Work<A> {
  /** Handles a message that is already charged to the budget. Never rejects. */
  handle(message: QueuedMessage<A>): Promise<void>;
  running(): number;
}

export function createWork<A>(options: WorkOptions<A>): Work<A> {
  const { budget, dispatch, ended, end, onTrouble } = options;
  let running = 0;

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

  return {
    async handle(message) {
      const { arrival, cost, begun, readAt, sequenceNumber } = message;
      const fate = options.fateOf(sequenceNumber);
      let held = cost;
      let isAside = false;
      const charge = budget.of(cost);
      const giveBack = () => (isAside ? budget.answering : charge).give(held);

      /** Moves the charge to `answering` and adds `more` bytes; leaves it unchanged when there is no room. */
      function moveAside(more: number) {
        if (isAside) budget.answering.give(held);
        if (budget.answering.take(held + more)) {
          if (!isAside) charge.give(held);
          isAside = true;
          held += more;
        } else if (isAside) budget.answering.take(held); // fits: it was freed above
      }

      const context: MessageContext = {
        releaseBytes(bytes) {
          held -= bytes;
          if (isAside) budget.answering.give(bytes, 0);
          else charge.shrink(bytes);
        },
        waiting() {
          if (!isAside) moveAside(0);
        },
        answering: moveAside,
        begins(course) {
          message.course = course;
        },
        ended,
        readAt,
        parkUnexecuted: fate === 'parked',
      };
      const isHandled = fate === 'passed over' || (await carriedOut(arrival, context));
      giveBack();
      if (isHandled) end(begun);
    },
    running: () => running,
  };
}
