import type { Suspicion } from './note.ts';

/** Suspects that begin together. */
export interface Turn {
  readonly sequenceNumbers: readonly number[];
  /** Nobody waits for them. */
  readonly isSlow: boolean;
  /** Only while no suspect of the process is in work. */
  readonly isAlone: boolean;
}

/** What has to be so for a turn to come. */
export interface Situation {
  /** Suspects that wait. */
  readonly waiting: Iterable<number>;
  /** No suspect of the partition is in work. */
  readonly isIdle: boolean;
  /** No suspect of the process is in work. */
  readonly isAlone: boolean;
  /** Slow ones have let the others go first for a while. */
  readonly isSlowTime: boolean;
}

/** Those that were in work at the last violent end begin in so many turns: it was in one of them. */
const turns = 4;

/** So many slow ones begin together at most: they hold connections to the backends for long. */
const mostSlow = 16;

type Kind = 'single' | 'quick' | 'slow';

interface Place {
  readonly kind: Kind;
  readonly number: number;
}

/**
 * The order of suspects. First those that were not in work at the last violent end, all at once. Then those that were, a quarter at
 * a time, so that each further end leaves a quarter of them. Then one that no other is left to be told from: it begins
 * alone in the process. And at last those that others have waited for, a few at a time: first the cleared ones, then again a
 * quarter of those that were in work.
 * @param known the suspects of the note
 */
export function createTurns(known: ReadonlyMap<number, Suspicion>): (situation: Situation) => Turn | undefined {
  const places = new Map<number, Place>();
  const all = [...known].sort(([one], [other]) => one - other);
  const blamed = all.filter(([, { isCleared, ends }]) => !isCleared && ends === 0);
  place(blamed.filter(([, { isSlow }]) => !isSlow));
  place(blamed.filter(([, { isSlow }]) => isSlow));
  const cleared = all.filter(([, { isCleared, ends }]) => isCleared && ends === 0);
  for (const [index, [sequenceNumber]] of cleared.entries()) {
    places.set(sequenceNumber, { kind: 'slow', number: Math.floor(index / mostSlow) - cleared.length });
  }
  for (const [sequenceNumber, { ends }] of all) {
    if (ends > 0) places.set(sequenceNumber, { kind: 'single', number: -ends });
  }

  function place(suspects: readonly (readonly [number, Suspicion])[]) {
    const quarter = Math.ceil(suspects.length / turns);
    for (const [index, [sequenceNumber, { isSlow }]] of suspects.entries()) {
      const kind = suspects.length === 1 ? 'single' : isSlow ? 'slow' : 'quick';
      const size = isSlow ? Math.min(quarter, mostSlow) : quarter;
      places.set(sequenceNumber, { kind, number: Math.floor(index / size) });
    }
  }

  const placeOf = (sequenceNumber: number): Place => places.get(sequenceNumber) ?? { kind: 'quick', number: -1 };

  return ({ waiting, isIdle, isAlone, isSlowTime }) => {
    const mayBegin = { single: isAlone, quick: true, slow: isIdle && isSlowTime };
    let best: Place | undefined;
    let chosen: number[] = [];
    for (const sequenceNumber of waiting) {
      const own = placeOf(sequenceNumber);
      if (!mayBegin[own.kind]) continue;
      const order = best === undefined ? -1 : compare(own, best);
      if (order > 0 || (order === 0 && own.kind === 'single')) continue;
      if (order < 0) chosen = [];
      best = own;
      chosen.push(sequenceNumber);
    }
    return best && { sequenceNumbers: chosen, isSlow: best.kind === 'slow', isAlone: best.kind === 'single' };
  };
}

const ranks = { quick: 0, single: 1, slow: 2 };

const compare = (one: Place, other: Place): number => ranks[one.kind] - ranks[other.kind] || one.number - other.number;
