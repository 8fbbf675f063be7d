import type { Suspicion } from './crashRecord.ts';

/** Suspects that begin together. */
export interface Turn {
  readonly sequenceNumbers: readonly number[];
  /** Other suspects do not wait for them. */
  readonly isSlow: boolean;
  /** Only while no suspect of the process is in work. */
  readonly isAlone: boolean;
}

/** What decides whose turn it is. */
export interface Situation {
  /** Suspects that wait. */
  readonly waiting: Iterable<number>;
  /** No suspect of the partition is in work. */
  readonly isIdle: boolean;
  /** No suspect of the process is in work. */
  readonly isAlone: boolean;
  /** The head start of the others is over. */
  readonly isSlowTime: boolean;
}

/** Suspects that were in work at the last unclean shutdown begin in this number of turns: the cause is in one of them. */
const turns = 4;

/** At most this number of slow suspects begin together: they hold connections to the backends for long. */
const mostSlow = 16;

type Kind = 'single' | 'quick' | 'slow';

interface TurnPlace {
  readonly kind: Kind;
  readonly number: number;
}

/**
 * The order of suspects. First those that were not in work at the last unclean shutdown, all at once. Then those that were, a
 * quarter at a time, so that each further shutdown leaves a quarter of them. Then the only one that is left, which runs alone in
 * the process. At last the slow ones, a few at a time: first the cleared ones, then a quarter at a time of those that were in work.
 * @param known the suspects of the crash record, in order
 */
export function createTurns(known: ReadonlyMap<number, Suspicion>): (situation: Situation) => Turn | undefined {
  const places = new Map<number, TurnPlace>();
  const all = [...known];
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

  const placeOf = (sequenceNumber: number): TurnPlace => places.get(sequenceNumber) ?? { kind: 'quick', number: -1 };

  return ({ waiting, isIdle, isAlone, isSlowTime }) => {
    const mayBegin = { single: isAlone, quick: true, slow: isIdle && isSlowTime };
    let best: TurnPlace | undefined;
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

const compare = (one: TurnPlace, other: TurnPlace): number =>
  ranks[one.kind] - ranks[other.kind] || one.number - other.number;
