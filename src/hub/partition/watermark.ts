import type { Run } from './completionMap.ts';

/** A place in a partition, without the event that stands there. */
export interface Position {
  readonly sequenceNumber: number;
  readonly offset: string;
}

/**
 * A *watermark* is the newest position of a partition up to which everything is done. Work finishes in any order; only
 * the watermark is safe to resume after (G1), and what is done above it need not be done again.
 */
export interface Watermark {
  /** Registers work in arrival order. */
  begin(position: Position): Begun;
  /** The work is done. */
  end(begun: Begun): void;
  /** Registers a position that needs no work. */
  pass(position: Position): void;
  /** The newest safe position; undefined before the first. */
  safe(): Position | undefined;
  /** What is done above the safe position, in order. */
  doneAbove(): Run[];
  /** Work begun and not done. */
  pending(): number;
}

/** Work that was registered: many thousands may wait, and a closure for each would take more memory than this. */
export interface Begun {
  readonly done: boolean;
}

/** Neighbours that are done melt into one stretch, so that memory follows the work in hand and not its distance. */
interface Stretch extends Begun {
  first: number;
  last: number;
  offset: string;
  done: boolean;
  before: Stretch | undefined;
  after: Stretch | undefined;
}

export function createWatermark(): Watermark {
  let oldest: Stretch | undefined;
  let newest: Stretch | undefined;
  let safe: Position | undefined;
  let pending = 0;

  function append({ sequenceNumber, offset }: Position, done: boolean): Stretch {
    const stretch = { first: sequenceNumber, last: sequenceNumber, offset, done, before: newest, after: undefined };
    if (newest) newest.after = stretch;
    else oldest = stretch;
    newest = stretch;
    return stretch;
  }

  function lengthen(stretch: Stretch, { last, offset }: Pick<Stretch, 'last' | 'offset'>) {
    stretch.last = last;
    stretch.offset = offset;
  }

  /** One that is done: it has melted into a neighbour, or into what is safe. */
  function remove({ before, after }: Stretch) {
    if (before) before.after = after;
    else oldest = after;
    if (after) after.before = before;
    else newest = before;
  }

  function finish(stretch: Stretch) {
    stretch.done = true;
    const { before, after } = stretch;
    if (after?.done) {
      lengthen(stretch, after);
      remove(after);
    }
    if (before?.done) {
      lengthen(before, stretch);
      remove(stretch);
    }
    if (oldest?.done) {
      safe = { sequenceNumber: oldest.last, offset: oldest.offset };
      remove(oldest);
    }
  }

  return {
    begin(position) {
      pending += 1;
      return append(position, false);
    },
    end(begun) {
      if (begun.done) return;
      pending -= 1;
      finish(begun as Stretch);
    },
    pass(position) {
      if (newest === undefined) safe = position;
      else if (newest.done) lengthen(newest, { last: position.sequenceNumber, offset: position.offset });
      else append(position, true);
    },
    safe: () => safe,
    doneAbove() {
      const runs: Run[] = [];
      for (let one = oldest; one !== undefined; one = one.after) {
        if (one.done) runs.push({ first: one.first, last: one.last });
      }
      return runs;
    },
    pending: () => pending,
  };
}
