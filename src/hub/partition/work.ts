import { setMaxListeners } from 'node:events';
import type { HubEvent } from '../../protocol/event.ts';
import type { Backlog, Kept } from './backlog.ts';
import type { Budget } from './budget.ts';
import type { Queued } from './lanes.ts';
import type { Begun } from './watermark.ts';

/** A message that is to be handled, and where it lies until then. */
export interface Message<A> extends Queued {
  /** Once it has been fetched, the message itself: it may have to be handled again. */
  kept: A | Kept<A>;
  readonly begun: Begun;
}

/** What a message in work knows of its partition. */
export interface MessageContext {
  /** Gives back bytes that were reserved for the message and are not needed (R6). */
  releaseBytes(bytes: number): void;
  /** The work waits for a backend that has gone out: its place is given back, if there is room beside (D28). */
  waiting(): void;
  /**
   * The work is over, and replies of so many bytes are left to be sent: the place in the budget is given back, if there is
   * room among what is being answered (D28).
   */
  answering(bytes: number): void;
  /** Aborted when what is running is left to others, too: no further call is made, no further reply is sent. */
  readonly ended: AbortSignal;
  /** The message is not to be executed: it is answered as failed through our side, and parked (G4). */
  readonly parkUnexecuted?: boolean;
}

interface WorkOptions<A> extends Pick<MessageContext, 'ended'> {
  /** Aborted when nothing more is begun: what still waits is left to the next reader of the partition. */
  readonly draining: AbortSignal;
  readonly budget: Budget;
  readonly backlog: Backlog<A>;
  /** What is to be dispatched of an event that has come back. */
  arrivalIn(event: HubEvent): A | undefined;
  /** The same message, when it has been begun before. */
  repeatOf(arrival: A): A;
  dispatch(arrival: A, context: MessageContext): Promise<boolean>;
  onTrouble(error: unknown, what: string): void;
  /** A message has been handled to its end. */
  end(begun: Begun): void;
  /** A message cannot be fetched. */
  onUnreadable(): void;
  mustBeParked(sequenceNumber: number): boolean;
  /** Something has left the backlog. */
  changed(): void;
}

export interface Work<A> {
  /** Handles a message whose place in the budget has been taken, unless it is too late to begin. Never rejects. */
  handle(message: Message<A>): Promise<void>;
  /**
   * Handles a message that is alone in work, without a place in the budget; answers whether it came to its end. It can be
   * handled again when it did not. Never rejects.
   * @param tooLong aborted when it is to end as if the partition were taken from us
   */
  handleAlone(message: Message<A>, tooLong: AbortSignal): Promise<boolean>;
  running(): number;
}

export function createWork<A extends { readonly event: HubEvent }>(options: WorkOptions<A>): Work<A> {
  const { budget, backlog, arrivalIn, repeatOf, dispatch, draining, ended, end, onTrouble, onUnreadable, changed } =
    options;
  let running = 0;

  async function fetched(kept: Kept<A>): Promise<A | undefined> {
    try {
      const found = await backlog.fetch(kept);
      return 'event' in found ? found : arrivalIn(found);
    } catch (error) {
      if (!draining.aborted) onTrouble(error, 'spool cannot be read: reading the partition again from its checkpoint');
      onUnreadable();
      return undefined;
    }
  }

  /** Answers whether the message has been handled to its end. */
  async function dispatched(arrival: A, context: MessageContext): Promise<boolean> {
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

  /** The same, wherever the message lies; false when it is too late to begin. */
  async function carriedOut(message: Message<A>, context: MessageContext): Promise<boolean> {
    const { kept, sequenceNumber } = message;
    const arrival = 'event' in kept ? kept : await fetched(kept);
    changed();
    if (draining.aborted) return false;
    if (arrival === undefined) return true;
    message.kept = arrival;
    return dispatched(arrival, { ...context, parkUnexecuted: options.mustBeParked(sequenceNumber) });
  }

  return {
    async handle(message) {
      const { cost, begun } = message;
      let held = cost;
      let isAside = false;
      const leavePlace = () => (isAside ? budget.answering : budget).give(held);

      /** From the place in the budget, or from beside it, to beside it with so many bytes more. */
      function moveAside(more: number) {
        if (isAside) budget.answering.give(held);
        if (budget.answering.take(held + more)) {
          if (!isAside) budget.give(held);
          isAside = true;
          held += more;
        } else if (isAside) budget.answering.take(held); // it has just had that room
      }

      const context: MessageContext = {
        releaseBytes(bytes) {
          held -= bytes;
          if (isAside) budget.answering.give(bytes, 0);
          else budget.shrink(bytes);
        },
        waiting() {
          if (!isAside) moveAside(0);
        },
        answering: moveAside,
        ended,
      };
      const isHandled = await carriedOut(message, context);
      leavePlace();
      if (isHandled) end(begun);
    },
    async handleAlone(message, tooLong) {
      const either = AbortSignal.any([ended, tooLong]);
      setMaxListeners(0, either);
      const isHandled = await carriedOut(message, { releaseBytes() {}, waiting() {}, answering() {}, ended: either });
      if (isHandled) end(message.begun);
      else if ('event' in message.kept) message.kept = repeatOf(message.kept); // D10
      return isHandled;
    },
    running: () => running,
  };
}
