import type { LogText } from '../observing/events.ts';
import { decodeCompletion, encodeCompletion, isDone } from './completionMap.ts';
import { type CrashRecord, decodeCrashRecord, encodeCrashRecord, isOpen } from './crashRecord.ts';
import { createWatermark, type Position, type WorkHandle } from './watermark.ts';

/** What is done of a partition: everything up to the position, and above it what the map contains. */
export interface Progress extends Position {
  /** The map; see completionMap. */
  readonly completed: string;
  /** The crash record as text; absent in normal times. The name is that of the format. */
  readonly note?: string;
}

/** What a session has begun and done of its partition. Has no clock, and writes nothing. */
export interface Tracked {
  /** Whether the event is done according to the progress at the start of the session. */
  isDone(sequenceNumber: number): boolean;
  /** Registers a message in hub order. */
  begin(position: Position): WorkHandle;
  /** The message has been handled to its end. */
  end(begun: WorkHandle): void;
  /** Registers an event that needs no handling. */
  pass(position: Position): void;
  /** The snapshots that follow have this crash record, until it is past. */
  recordCrashState(next: CrashRecord): void;
  /** Undefined while there is no safe position. */
  snapshot(): Snapshot | undefined;
  /** The newest safe position; undefined while there is none. */
  safe(): Position | undefined;
  /** Whether a message that was in flight at an unclean shutdown may be unfinished above this position. */
  isCrashRecordOpen(sequenceNumber: number | undefined): boolean;
  /** Messages begun and not handled to their end. */
  pending(): number;
  /** The map at the start of the session cannot be read: what it contained is handled again. */
  readonly isMapUnreadable: boolean;
}

/** What is done at one moment. */
export interface Snapshot {
  readonly progress: Progress;
  /** As it was given, also when it is past and `progress` has none. */
  readonly crashRecord: CrashRecord | undefined;
}

/** @param start the progress at the start of the session */
export function createTracked(start: Progress | undefined): Tracked {
  const watermark = createWatermark();
  /** The map at the start of the session. Snapshots repeat it for events that have not been read again yet. */
  const before = start && decodeCompletion(start.sequenceNumber, start.completed);
  let crashRecord = decodeCrashRecord(start?.note);

  const safe = () => watermark.safe() ?? start;

  return {
    isDone: (sequenceNumber) => before !== undefined && isDone(before, sequenceNumber),
    begin: watermark.begin,
    end: watermark.end,
    pass: watermark.pass,
    recordCrashState(next) {
      crashRecord = next;
    },
    snapshot() {
      const position = safe();
      if (position === undefined) return undefined;
      const { sequenceNumber, offset } = position;
      const completed = encodeCompletion(sequenceNumber, watermark.doneAbove(), before);
      const open = crashRecord && isOpen(crashRecord, sequenceNumber) && { note: encodeCrashRecord(crashRecord) };
      return { progress: { sequenceNumber, offset, completed, ...open }, crashRecord: crashRecord };
    },
    safe,
    isCrashRecordOpen: (sequenceNumber) =>
      crashRecord !== undefined && sequenceNumber !== undefined && isOpen(crashRecord, sequenceNumber),
    pending: watermark.pending,
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
