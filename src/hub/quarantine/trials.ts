import type { Log } from '../../log/log.ts';
import { endsBeforeTrials, type Note } from './note.ts';

/** Handles one suspect at a time, alone in the whole process, and notes it before it begins. */
export interface Trials {
  run(suspect: Suspect): Promise<Ending>;
  /** At how many violent ends the message was alone; 0 when it only took too long, undefined when it was never tried. */
  countOf(sequenceNumber: number): number | undefined;
}

export interface Suspect {
  readonly deviceId: string;
  readonly sequenceNumber: number;
  /**
   * Handles the message without a place in the budget, and answers whether it came to its end. Never rejects.
   * @param tooLong aborted when the message is to end as if the partition were taken from us
   */
  handle(tooLong: AbortSignal): Promise<boolean>;
  /** Counts the message as handled, without looking at it. */
  passOver(): void;
}

/**
 * Handled: to its end. Slow: begun, and broken off after the limit. Crowded: not begun, since it could not be alone within
 * the limit. Unnoted: not begun, since the store did not take the note. Unfinished: the partition drains.
 */
export type Ending = 'handled' | 'slow' | 'crowded' | 'unnoted' | 'unfinished';

export interface TrialsOptions {
  readonly note: Note;
  /** Writes a note down. Answers whether that was possible. */
  annotate(note: Note): Promise<boolean>;
  /** Waits until nothing is in work in the process; nothing begins until the answer is called. Undefined when `leaving` came first. */
  alone(signal: AbortSignal): Promise<(() => void) | undefined>;
  /** Aborted when nothing more is begun. */
  readonly draining: AbortSignal;
  /** The longest that a message may take by itself: no trial needs longer. */
  readonly longestMs: number;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
}

/** A message that was alone in work at so many violent ends is not executed any more. */
export const endsUntilParked = 3;

/** How long others are held up for one suspect, at first; twice as long with each further violent end. */
const firstLimitMs = 15_000;

const clearsAgainMs = 500;

export function createTrials({ note, annotate, alone, draining, longestMs, log }: TrialsOptions): Trials {
  const trials = new Map(note.trials);
  const limitMs = Math.min(firstLimitMs * 2 ** (note.ends - endsBeforeTrials), longestMs);
  const noteOf = (sequenceNumber: number | undefined): Note => ({
    ...note,
    alone: sequenceNumber,
    trials: new Map(trials),
  });

  async function getAlone(): Promise<(() => void) | undefined> {
    const limit = startLimit(limitMs);
    try {
      return await alone(AbortSignal.any([draining, limit.signal]));
    } finally {
      limit.stop();
    }
  }

  async function handle(suspect: Suspect): Promise<Ending> {
    const { deviceId, sequenceNumber } = suspect;
    const count = trials.get(sequenceNumber) ?? 0;
    const place = { device: deviceId, sequenceNumber, ends: count };
    log.info(place, 'suspect begins, alone in work');
    if (count > endsUntilParked) {
      log.error(
        place,
        'message has ended the process even without being executed: passed over, neither answered nor parked',
      );
      suspect.passOver();
      return 'handled';
    }
    const limit = startLimit(limitMs);
    const isHandled = await suspect.handle(limit.signal);
    limit.stop();
    if (isHandled) return 'handled';
    return limit.signal.aborted && !draining.aborted ? 'slow' : 'unfinished';
  }

  /** Before others begin: a violent end would be taken for the suspect's doing. But a store that is out holds nobody up for good. */
  async function clear(): Promise<void> {
    const until = performance.now() + limitMs;
    while (!(await annotate(noteOf(undefined)))) {
      if (draining.aborted || performance.now() > until) return;
      await pause(clearsAgainMs);
    }
  }

  return {
    async run(suspect) {
      const { sequenceNumber } = suspect;
      const release = await getAlone();
      if (release === undefined) return draining.aborted ? 'unfinished' : 'crowded';
      if (!(await annotate(noteOf(sequenceNumber)))) {
        await annotate(noteOf(undefined)); // the store may have taken the note, and not said so
        release();
        return draining.aborted ? 'unfinished' : 'unnoted';
      }
      const ending = draining.aborted ? 'unfinished' : await handle(suspect);
      if (ending === 'handled') trials.delete(sequenceNumber);
      if (ending === 'slow') trials.set(sequenceNumber, trials.get(sequenceNumber) ?? 0);
      await clear();
      release();
      return ending;
    },
    countOf: (sequenceNumber) => trials.get(sequenceNumber),
  };
}

function startLimit(ms: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), ms);
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
