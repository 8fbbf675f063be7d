import { createTrials, endsUntilParked, type Suspect, type TrialsOptions } from './trials.ts';

/**
 * For a session after violent ends: who is tried alone, in which order, and until when (G4, D29). A suspect is the oldest
 * unfinished message of its device, as far as it may have been in work at the last end.
 */
export interface Quarantine {
  /** Whether the message, the first of its lane, is to be tried before it may run beside others. */
  isSuspect(sequenceNumber: number): boolean;
  /** Tries a suspect when its turn comes. */
  try(suspect: Suspect): Promise<Verdict>;
  /** Whether the message is to be parked instead of being executed. */
  mustBeParked(sequenceNumber: number): boolean;
  /** Whether a trial is under way, its note included. */
  isTrying(): boolean;
}

/** Handled: to its end. Cleared: it may run beside others. Unfinished: the partition drains before it came to its end. */
export type Verdict = 'handled' | 'cleared' | 'unfinished';

export interface QuarantineOptions extends TrialsOptions {
  /** Suspects of a session: as many messages as may be in work at once. */
  readonly mostSuspects: number;
}

/** Suspects that hold others up for the whole limit; then the session goes on as any other. */
const mostSlow = 4;

/** Until the next trial, while the store takes no note. */
const notesAgainMs = 1_000;

interface Waiting {
  readonly suspect: Suspect;
  settle(verdict: Verdict): void;
}

export function createQuarantine(options: QuarantineOptions): Quarantine {
  const { note, draining, mostSuspects, log } = options;
  const trials = createTrials(options);
  const waiting: Waiting[] = [];
  /** Tried, and too slow to be tried to their end. */
  const slow: Waiting[] = [];
  let suspects = 0;
  let holdUps = 0;
  let isAtIt = false;
  let isTrying = false;
  let isOver = false;

  const { ends, upTo } = note;
  log.warn(
    { ends, upTo, tried: Object.fromEntries(note.trials) },
    'violent ends: messages that may be the cause are handled alone',
  );
  draining.addEventListener('abort', () => end('unfinished'), { once: true });

  const countOf = ({ suspect: { sequenceNumber } }: Waiting) => trials.countOf(sequenceNumber);
  const mustBeParked = (sequenceNumber: number) => (trials.countOf(sequenceNumber) ?? 0) >= endsUntilParked;

  /** Settles all that wait. From here on no message is a suspect. */
  function end(verdict: Verdict) {
    isOver = true;
    for (const { settle } of [...waiting.splice(0), ...slow.splice(0)]) settle(verdict);
  }

  async function tryAll() {
    isAtIt = true;
    for (let one = takeNext(); one !== undefined; one = takeNext()) await tryOne(one);
    isAtIt = false;
    // No message could be alone beside them.
    if (slow.length > 0) end('cleared');
  }

  function takeNext(): Waiting | undefined {
    waiting.sort(inOrderOfSuspicion(countOf));
    return waiting.shift();
  }

  async function tryOne(one: Waiting) {
    isTrying = true;
    const ending = await trials.run(one.suspect);
    isTrying = false;
    switch (ending) {
      case 'handled':
      case 'unfinished':
        return one.settle(ending);
      case 'unnoted':
        await pause(notesAgainMs, draining);
        return again(one, waiting);
      case 'crowded':
        return holdUp(one, waiting);
      case 'slow':
        return holdUp(one, slow);
    }
  }

  function again(one: Waiting, where: Waiting[]) {
    if (isOver) one.settle(draining.aborted ? 'unfinished' : 'cleared');
    else where.push(one);
  }

  function holdUp(one: Waiting, where: Waiting[]) {
    again(one, where);
    holdUps += 1;
    if (holdUps === mostSlow) end('cleared');
  }

  return {
    isSuspect(sequenceNumber) {
      if (isOver || sequenceNumber > note.upTo) return false;
      return suspects < mostSuspects || (trials.countOf(sequenceNumber) ?? 0) > 0;
    },
    try(suspect) {
      suspects += 1;
      return new Promise((settle) => {
        waiting.push({ suspect, settle });
        if (!isAtIt) void tryAll();
      });
    },
    mustBeParked,
    isTrying: () => isTrying,
  };
}

/** First those that were alone at violent ends, last those that have only been slow, else in order of arrival. */
function inOrderOfSuspicion(countOf: (one: Waiting) => number | undefined) {
  const rank = (one: Waiting) => countOf(one) ?? 0.5;
  return (one: Waiting, other: Waiting) => rank(other) - rank(one);
}

/** Ends sooner when the partition closes. */
function pause(ms: number, draining: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    draining.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
  });
}
