import type { LogText } from '../observing/events.ts';
import { decodeCompletion, encodeCompletion, isDone } from './completionMap.ts';
import { type CrashRecord, decodeCrashRecord, encodeCrashRecord, isOpen } from './crashRecord.ts';
import { createWatermark, type Position } from './watermark.ts';

/** What is done of a partition: everything up to the position, and above it what the map contains. */
export interface Checkpoint extends Position {
  /** The map; see completionMap. */
  readonly completed: string;
  /** The crash record as text; absent in normal times. The name is that of the format. */
  readonly note?: string;
}

/** What a session has begun and done of its partition; `start`: at its beginning. Has no clock, and writes nothing. */
export function createTracked(start: Checkpoint | undefined) {
  const { doneAbove, ...watermark } = createWatermark();
  /** The map at the start of the session. Snapshots repeat it for events that have not been read again yet. */
  const before = start && decodeCompletion(start.sequenceNumber, start.completed);
  let crashRecord = decodeCrashRecord(start?.note);

  const safe = () => watermark.safe() ?? start;

  return {
    ...watermark,
    safe,
    /** Whether the event is done according to the progress at the start of the session. */
    isDone: (sequenceNumber: number): boolean => before !== undefined && isDone(before, sequenceNumber),
    /** The snapshots that follow have this crash record, until it is past. */
    recordCrashState(next: CrashRecord) {
      crashRecord = next;
    },
    /** What is done now, with the crash record as it was given, also when it is past; undefined while there is no safe position. */
    snapshot(): { progress: Checkpoint; crashRecord: CrashRecord | undefined } | undefined {
      const position = safe();
      if (position === undefined) return undefined;
      const { sequenceNumber, offset } = position;
      const completed = encodeCompletion(sequenceNumber, doneAbove(), before);
      const open = crashRecord && isOpen(crashRecord, sequenceNumber) && { note: encodeCrashRecord(crashRecord) };
      return { progress: { sequenceNumber, offset, completed, ...open }, crashRecord };
    },
    /** Whether a message that was in flight at an unclean shutdown may be unfinished above this position. */
    isCrashRecordOpen: (sequenceNumber: number | undefined): boolean =>
      crashRecord !== undefined && sequenceNumber !== undefined && isOpen(crashRecord, sequenceNumber),
    /** The map at the start of the session cannot be read: what it contained is handled again. */
    isMapUnreadable: before === undefined && start !== undefined && start.completed !== '',
  };
}

export type RedeliveryHorizon = ReturnType<typeof createRedeliveryHorizon>;

/**
 * The newest message whose handling may have begun in an earlier session (D10). While it is not known, every event counts as redelivered.
 * @param newest as the last owner wrote it; else asks the hub when the first events come: from then on it sends none to the last owner
 */
export function createRedeliveryHorizon(
  newest: number | (() => Promise<number>),
  onTrouble?: (error: unknown, what: LogText<'error'>) => void,
) {
  let known = typeof newest === 'number' ? newest : undefined;
  /** As the time of day. The hub's answer may be older (fact reading.stale-info). */
  let firstAskedAt: number | undefined;

  async function find(ask: () => Promise<number>) {
    firstAskedAt ??= Date.now();
    try {
      known = await ask();
    } catch (error) {
      onTrouble?.(error, 'newest event not known: every event counts as redelivered');
    }
  }

  return {
    /** Asks the hub for its newest event if that is not known yet; undefined when it is known. Never rejects. */
    look: () => (known === undefined && typeof newest === 'function' ? find(newest) : undefined),
    redelivered: (sequenceNumber: number, enqueuedTimeUtc: Date): boolean =>
      known === undefined || sequenceNumber <= known || Number(enqueuedTimeUtc) < (firstAskedAt ?? 0),
    known: () => known,
  };
}
