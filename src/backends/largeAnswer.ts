import type { Charge } from '../engine/budget/line.ts';

/** Where large answers are charged. */
export type AnswerRoom = Pick<Charge, 'take' | 'shrink' | 'give'>;

/** An answer of this size needs no room but its connection (R6). */
export const usualAnswerBytes = 64 * 1024;

/** The bytes as they come, and the copy that is read. */
const perAnswerByte = 2;

/** Of all large answers that a process reads at a time. */
export const readingBytes = 32 * 1024 * 1024;

/** The room of one answer of more than `usualAnswerBytes`, from before more of it is received until it has been read. */
export interface LargeAnswer {
  /** Undefined when there was room at once. */
  readonly waiting: Promise<unknown> | undefined;
  /** All of it is there. */
  received(bytes: number): void;
  /** Gives the room back, or the place in the line; may be called twice. */
  release(): void;
}

/** @param most bytes that the answer may have */
export function createLargeAnswer(room: AnswerRoom, most: number): LargeAnswer {
  let held = perAnswerByte * most;
  let isTaken = false;
  let isOver = false;
  const waiting = room.take(held)?.then(taken);
  if (waiting === undefined) isTaken = true;

  function taken() {
    isTaken = true;
    if (isOver) room.give(held);
  }

  return {
    waiting,
    received(bytes) {
      const excess = held - perAnswerByte * bytes;
      held -= excess;
      room.shrink(excess);
    },
    release() {
      if (isOver) return;
      isOver = true;
      if (isTaken) room.give(held);
    },
  };
}
