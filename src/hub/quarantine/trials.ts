import type { LogLines } from '../../log/log.ts';
import { endsBeforeTrials, type Note } from './note.ts';

/** Handles one suspect at a time, with nothing else in flight in the process, and writes a note before it begins. */
export interface Trials {
  run(suspect: Suspect): Promise<Ending>;
  /** Violent ends at which the message was alone; 0 when it only took too long, undefined when never tried. */
  countOf(sequenceNumber: number): number | undefined;
}

export interface Suspect {
  readonly deviceId: string;
  readonly sequenceNumber: number;
  /**
   * Handles the message without charging the budget; returns whether it was handled to its end. Never rejects.
   * @param tooLong when aborted, the message ends as if the partition were revoked
   */
  handle(tooLong: AbortSignal): Promise<boolean>;
  /** Counts the message as handled, without reading it. */
  passOver(): void;
}

/**
 * Handled: to its end. Slow: begun, and aborted after the limit. Crowded: not begun, because others were in flight for
 * the whole limit. Unnoted: not begun, because the store did not accept the note. Unfinished: the partition drains.
 */
export type Ending = 'handled' | 'slow' | 'crowded' | 'unnoted' | 'unfinished';

export interface TrialsOptions {
  readonly note: Note;
  /** Writes a note and returns whether that worked. */
  annotate(note: Note): Promise<boolean>;
  /** See Budget. */
  alone(signal: AbortSignal): Promise<(() => void) | undefined>;
  /** When aborted, no more messages begin. */
  readonly draining: AbortSignal;
  /** The longest that a message may take: no trial needs longer. */
  readonly longestMs: number;
  readonly log: LogLines;
}

/** A message that was alone in flight at so many violent ends is parked unexecuted. */
export const endsUntilParked = 3;

/** How long one suspect may delay others, at first; doubled by each further violent end. */
const firstLimitMs = 15_000;

const clearPauseMs = 500;

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

  /**
   * Removes the suspect from the note before others begin: it would be blamed for a violent end that they cause. Gives
   * up after the limit, so that a store that fails does not block the service.
   */
  async function clear(): Promise<void> {
    const until = performance.now() + limitMs;
    while (!(await annotate(noteOf(undefined)))) {
      if (draining.aborted || performance.now() > until) return;
      await pause(clearPauseMs);
    }
  }

  return {
    async run(suspect) {
      const { sequenceNumber } = suspect;
      const release = await getAlone();
      if (release === undefined) return draining.aborted ? 'unfinished' : 'crowded';
      if (!(await annotate(noteOf(sequenceNumber)))) {
        await annotate(noteOf(undefined)); // the store may have written the note all the same
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
