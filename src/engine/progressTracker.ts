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

/**
 * What a session has begun and done of its partition. Has no clock, and writes nothing.
 * @param start the progress at the start of the session
 */
export function createTracked(start: Checkpoint | undefined) {
  const { doneAbove, ...watermark } = createWatermark();
  /** The map at the start of the session. Snapshots repeat it for events that have not been read again yet. */
  const before = start && decodeCompletion(start.sequenceNumber, start.completed);
  let crashRecord = decodeCrashRecord(start?.note);

  const safe = () => watermark.safe() ?? start;

  return {
    ...watermark,
    /** The newest safe position; undefined while there is none. */
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

/** The newest message whose handling may have begun in an earlier session (D10). */
export interface RedeliveryHorizon {
  /** Asks the hub for its newest event if that is not known yet; undefined when it is known. Never rejects. */
  look(): Promise<void> | undefined;
  redelivered(sequenceNumber: number): boolean;
  /** Its sequence number; undefined while it is not known. */
  known(): number | undefined;
}

/** As the last owner wrote it when it released the partition. */
export const knownRedeliveryHorizon = (begun: number): RedeliveryHorizon => ({
  look: () => undefined,
  redelivered: (sequenceNumber) => sequenceNumber <= begun,
  known: () => begun,
});

/**
 * The newest event of the hub when this session receives its first events: from then on the hub sends none to the last
 * owner. While it is not known, every event counts as redelivered.
 */
export function openRedeliveryHorizon(
  newest: () => Promise<number>,
  onTrouble: (error: unknown, what: LogText<'error'>) => void,
): RedeliveryHorizon {
  let redeliveryHorizon: number | undefined;

  async function find() {
    try {
      redeliveryHorizon = await newest();
    } catch (error) {
      onTrouble(error, 'newest event not known: every event counts as redelivered');
    }
  }

  return {
    look: () => (redeliveryHorizon === undefined ? find() : undefined),
    redelivered: (sequenceNumber) => redeliveryHorizon === undefined || sequenceNumber <= redeliveryHorizon,
    known: () => redeliveryHorizon,
  };
}
