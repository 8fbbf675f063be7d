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
  /** Registers work in arrival order; call the answer once, when it is done. */
  begin(position: Position): () => void;
  /** Registers a position that needs no work. */
  pass(position: Position): void;
  /** The newest safe position; undefined before the first. */
  safe(): Position | undefined;
  /** What is done above the safe position, in order. */
  doneAbove(): Run[];
  /** How many runs those are, without looking at each. */
  runsAbove(): number;
  /** The last position that was registered; undefined before the first. */
  newest(): Position | undefined;
  /** Work begun and not done. */
  pending(): number;
}

/** Neighbours that are done melt into one stretch, so that memory follows the work in hand and not its distance. */
interface Stretch {
  first: number;
  last: Position;
  done: boolean;
  before: Stretch | undefined;
  after: Stretch | undefined;
}

export function createWatermark(): Watermark {
  let oldest: Stretch | undefined;
  let newest: Stretch | undefined;
  let safe: Position | undefined;
  let pending = 0;
  let runs = 0;

  function append(position: Position, done: boolean): Stretch {
    const stretch = { first: position.sequenceNumber, last: position, done, before: newest, after: undefined };
    if (newest) newest.after = stretch;
    else oldest = stretch;
    newest = stretch;
    if (done) runs += 1;
    return stretch;
  }

  /** One that is done: it has melted into a neighbour, or into what is safe. */
  function remove({ before, after }: Stretch) {
    runs -= 1;
    if (before) before.after = after;
    else oldest = after;
    if (after) after.before = before;
    else newest = before;
  }

  function finish(stretch: Stretch) {
    stretch.done = true;
    runs += 1;
    const { before, after } = stretch;
    if (after?.done) {
      stretch.last = after.last;
      remove(after);
    }
    if (before?.done) {
      before.last = stretch.last;
      remove(stretch);
    }
    if (oldest?.done) {
      safe = oldest.last;
      remove(oldest);
    }
  }

  return {
    begin(position) {
      const stretch = append(position, false);
      pending += 1;
      return () => {
        if (stretch.done) return;
        pending -= 1;
        finish(stretch);
      };
    },
    pass(position) {
      if (newest === undefined) safe = position;
      else if (newest.done) newest.last = position;
      else append(position, true);
    },
    safe: () => safe,
    doneAbove() {
      const runs: Run[] = [];
      for (let one = oldest; one !== undefined; one = one.after) {
        if (one.done) runs.push({ first: one.first, last: one.last.sequenceNumber });
      }
      return runs;
    },
    runsAbove: () => runs,
    newest: () => newest?.last ?? safe,
    pending: () => pending,
  };
}
