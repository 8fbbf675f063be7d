import type { SequenceRange } from './completionMap.ts';

export type Position = { readonly sequenceNumber: number; readonly offset: string };

/** Registered work. An object, not a closure: many thousands may wait, and a closure takes more memory. */
export type WorkHandle = { readonly done: boolean };

/** Adjacent intervals that are done are merged, so that memory depends on pending work, not on the range it covers. */
interface Interval extends WorkHandle {
  first: number;
  last: number;
  offset: string;
  done: boolean;
  before: Interval | undefined;
  after: Interval | undefined;
}

/** A *watermark* is the newest position up to which everything is done: only that is safe to resume after (G1). Above it, work ends in any order. */
export function createWatermark() {
  let oldest: Interval | undefined;
  let newest: Interval | undefined;
  let safe: Position | undefined;
  let pending = 0;

  function append({ sequenceNumber, offset }: Position, done: boolean): Interval {
    const interval = { first: sequenceNumber, last: sequenceNumber, offset, done, before: newest, after: undefined };
    if (newest) newest.after = interval;
    else oldest = interval;
    newest = interval;
    return interval;
  }

  function lengthen(interval: Interval, { last, offset }: Pick<Interval, 'last' | 'offset'>) {
    interval.last = last;
    interval.offset = offset;
  }

  function remove({ before, after }: Interval) {
    if (before) before.after = after;
    else oldest = after;
    if (after) after.before = before;
    else newest = before;
  }

  function finish(interval: Interval) {
    interval.done = true;
    const { before, after } = interval;
    if (after?.done) {
      lengthen(interval, after);
      remove(after);
    }
    if (before?.done) {
      lengthen(before, interval);
      remove(interval);
    }
    if (oldest?.done) {
      safe = { sequenceNumber: oldest.last, offset: oldest.offset };
      remove(oldest);
    }
  }

  return {
    begin(position: Position): WorkHandle {
      pending += 1;
      return append(position, false);
    },
    end(begun: WorkHandle) {
      if (begun.done) return;
      pending -= 1;
      finish(begun as Interval);
    },
    pass(position: Position) {
      if (newest === undefined) safe = position;
      else if (newest.done) lengthen(newest, { last: position.sequenceNumber, offset: position.offset });
      else append(position, true);
    },
    safe: (): Position | undefined => safe,
    doneAbove(): SequenceRange[] {
      const runs: SequenceRange[] = [];
      for (let one = oldest; one !== undefined; one = one.after)
        if (one.done) runs.push({ first: one.first, last: one.last });
      return runs;
    },
    pending: () => pending,
  };
}
