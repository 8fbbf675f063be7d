import { type Meter, noMeter } from '../../metrics/meter.ts';
import { createTrials, endsUntilParked, type Suspect, type TrialsOptions } from './trials.ts';

/**
 * For a session after violent ends: which messages are tried alone, in which order, and until when (G4, D29). A suspect
 * is the oldest unfinished message of its device, if it may have been in flight at the last end.
 */
export interface Quarantine {
  /** Whether the message, the first of its lane, must be tried before it may run concurrently with others. */
  isSuspect(sequenceNumber: number): boolean;
  /** Tries a suspect when its turn comes. */
  try(suspect: Suspect): Promise<Verdict>;
  /** Whether the message must be parked instead of executed. */
  mustBeParked(sequenceNumber: number): boolean;
  /** Messages that wait for their trial or are being tried. */
  suspects(): number;
  /** Whether a trial is running, including the writes of its notes. */
  isTrying(): boolean;
}

/** Handled: to its end. Cleared: it may run concurrently with others. Unfinished: the partition drains first. */
export type Verdict = 'handled' | 'cleared' | 'unfinished';

export interface QuarantineOptions extends TrialsOptions {
  /** The most suspects of a session: as many messages as may be in flight at once. */
  readonly mostSuspects: number;
  readonly meter?: Meter;
}

/** After so many trials that reach the time limit, the quarantine ends. */
const mostSlow = 4;

/** Pause before the next trial when the store has not accepted the note. */
const notePauseMs = 1_000;

interface Waiting {
  readonly suspect: Suspect;
  settle(verdict: Verdict): void;
}

export function createQuarantine(options: QuarantineOptions): Quarantine {
  const { note, draining, mostSuspects, log, meter = noMeter } = options;
  const countTrial = meter.counter('device_messaging.quarantine.trials');
  const trials = createTrials(options);
  const waiting: Waiting[] = [];
  /** Suspects whose trial has reached the time limit. */
  const slow: Waiting[] = [];
  let tried = 0;
  let holdUps = 0;
  let isRunning = false;
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

  /** Settles all trials that wait. From now on no message is a suspect. */
  function end(verdict: Verdict) {
    isOver = true;
    for (const { settle } of [...waiting.splice(0), ...slow.splice(0)]) settle(verdict);
  }

  async function tryAll() {
    isRunning = true;
    for (let one = takeNext(); one !== undefined; one = takeNext()) await tryOne(one);
    isRunning = false;
    // When these run, no further message can be tried alone.
    if (slow.length > 0) end('cleared');
  }

  function takeNext(): Waiting | undefined {
    waiting.sort(inOrderOfSuspicion(countOf));
    return waiting.shift();
  }

  async function tryOne(one: Waiting) {
    isTrying = true;
    const ending = await trials.run(one.suspect);
    countTrial(ending);
    isTrying = false;
    switch (ending) {
      case 'handled':
      case 'unfinished':
        return one.settle(ending);
      case 'unnoted':
        await pause(notePauseMs, draining);
        return requeue(one, waiting);
      case 'crowded':
        return holdUp(one, waiting);
      case 'slow':
        return holdUp(one, slow);
    }
  }

  function requeue(one: Waiting, where: Waiting[]) {
    if (isOver) one.settle(draining.aborted ? 'unfinished' : 'cleared');
    else where.push(one);
  }

  function holdUp(one: Waiting, where: Waiting[]) {
    requeue(one, where);
    holdUps += 1;
    if (holdUps === mostSlow) end('cleared');
  }

  return {
    isSuspect(sequenceNumber) {
      if (isOver || sequenceNumber > note.upTo) return false;
      return tried < mostSuspects || (trials.countOf(sequenceNumber) ?? 0) > 0;
    },
    try(suspect) {
      tried += 1;
      return new Promise((settle) => {
        waiting.push({ suspect, settle });
        if (!isRunning) void tryAll();
      });
    },
    mustBeParked,
    suspects: () => waiting.length + slow.length + (isTrying ? 1 : 0),
    isTrying: () => isTrying,
  };
}

/** Messages that were alone at violent ends come first, those that were only slow last, others in order of arrival. */
function inOrderOfSuspicion(countOf: (one: Waiting) => number | undefined) {
  const rank = (one: Waiting) => countOf(one) ?? 0.5;
  return (one: Waiting, other: Waiting) => rank(other) - rank(one);
}

/** Ends at once when the partition drains. */
function pause(ms: number, draining: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    draining.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
  });
}
