import type { Budget } from './budget.ts';
import type { PartitionBacklog } from './rooms.ts';

export type MessageCharge = Omit<ReturnType<typeof createCharge>, 'end'>;

const none = () => undefined;
export const noCharge = { shrink: none, aside: none, sleeps: none, wakes: none, parks: none, takeForAnswers: none };

export interface ChargeOptions {
  /** The budget of this partition, which charges the overall one too. */
  readonly budget: Budget;
  readonly backlog: PartitionBacklog;
  readonly ended: AbortSignal;
}

/** Where a message is charged. Without `shrink`, with its event alone. */
type Place = { give(bytes: number): void; shrink?(bytes: number): void };

/** @param isFollowed whether other messages of its device wait behind it. @param asleep told when it falls asleep and wakes */
export function createCharge(
  cost: number,
  { budget, backlog, ended }: ChargeOptions,
  isFollowed: () => boolean,
  asleep: (isAsleep: boolean) => void,
) {
  let held = cost;
  let place: Place = budget.of(cost);
  let sleeper: ReturnType<Budget['sleeping']['add']> | undefined;
  /** Undefined while it has no room for answers of its own. */
  let answers: number | undefined;
  let isAsleep = false;
  let keepsNoMore = false;

  function shrink(bytes: number) {
    if (answers !== undefined) {
      answers -= bytes;
      budget.answers.shrink(bytes);
    } else if (place.shrink !== undefined) {
      held -= bytes;
      place.shrink(bytes);
    }
  }

  function moveTo(next: Place, left: number) {
    place.give(held);
    place = next;
    held = left;
    sleeper = undefined;
  }

  function leaveAnswers(): number {
    const left = answers ?? 0;
    if (answers !== undefined) budget.answers.give(left);
    answers = undefined;
    return left;
  }

  function setAsleep(next: boolean) {
    if (next === isAsleep) return;
    isAsleep = next;
    asleep(next);
  }

  return {
    /** Releases bytes that it does not need, or not any more (R6): those of answers, if it has taken room for them. */
    shrink,
    /**
     * It waits for a backend or for room, or its replies are tried again: moves its charge to `answering`, if it fits (D28).
     * @param left bytes, when only its replies are left; and `kept` of answers of backends
     */
    aside(left?: number, kept = 0) {
      if (left !== undefined) {
        keepsNoMore = true;
        if (answers !== undefined) shrink(answers - kept);
        const own = answers === undefined ? left + kept : left;
        place.shrink?.(held - own);
        held = own;
      }
      if (place === budget.answering || place === backlog || !budget.answering.hasRoom(held)) return;
      budget.answering.add(held);
      moveTo(budget.answering, held);
    },
    /** All replies that are left wait for full queues: moves the charge to `sleeping` (C4). @param giveUp may be called before this returns */
    sleeps(giveUp: () => void) {
      if (sleeper === undefined) {
        const all = held + leaveAnswers();
        const next = budget.sleeping.add(all, isFollowed);
        moveTo(next, all);
        sleeper = next;
      }
      setAsleep(true);
      sleeper.sleeps(giveUp);
    },
    wakes() {
      setAsleep(false);
      sleeper?.wakes();
    },
    /** It waits for the store of dead letters, and only these bytes are left: moves the charge to the backlog, if it fits (G4). */
    parks(bytes: number) {
      if (place === backlog || !backlog.hasRoom(bytes)) return;
      moveTo(backlog, bytes);
      backlog.enter(bytes);
    },
    /** Takes room for answers of backends, once; undefined when there is some at once. Resolves with false, taking none, when `ended`. */
    takeForAnswers(bytes: number): Promise<boolean> | undefined {
      const taken = () => {
        if (keepsNoMore) budget.answers.give(bytes);
        else answers = bytes;
      };
      const taking = budget.answers.take(bytes, ended);
      if (taking === undefined) taken();
      return taking?.then((isTaken) => {
        if (isTaken) taken();
        return isTaken;
      });
    },
    /** @returns the bytes that it was charged for at last */
    end(): number {
      keepsNoMore = true;
      place.give(held);
      const left = held + leaveAnswers();
      setAsleep(false);
      return left;
    },
  };
}
