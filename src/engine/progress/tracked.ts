import { decodeNote, encodeNote, isOpen, type Note } from '../quarantine/note.ts';
import { decodeCompletion, encodeCompletion, isDone } from './completionMap.ts';
import { type Begun, createWatermark, type Position } from './watermark.ts';

/** What is done of a partition: everything up to the position, and above it what the map contains. */
export interface Progress extends Position {
  /** The map; see completionMap. */
  readonly completed: string;
  /** See note; absent in normal times. */
  readonly note?: string;
}

/** What a session has begun and done of its partition. Has no clock, and writes nothing. */
export interface Tracked {
  /** Whether the event is done according to the progress at the start of the session. */
  isDone(sequenceNumber: number): boolean;
  /** Registers a message in hub order. */
  begin(position: Position): Begun;
  /** The message has been handled to its end. */
  end(begun: Begun): void;
  /** Registers an event that needs no handling. */
  pass(position: Position): void;
  /** The snapshots that follow have this note, until it is past. */
  annotate(next: Note): void;
  /** Undefined while there is no safe position. */
  snapshot(): Snapshot | undefined;
  /** The newest safe position; undefined while there is none. */
  safe(): Position | undefined;
  /** Whether a message that was in flight at a violent end may be unfinished above this position. */
  isNoteOpen(sequenceNumber: number | undefined): boolean;
  /** Messages begun and not handled to their end. */
  pending(): number;
  /** The map at the start of the session cannot be read: what it contained is handled again. */
  readonly isMapUnreadable: boolean;
}

/** What is done at one moment. */
export interface Snapshot {
  readonly progress: Progress;
  /** As it was given, also when it is past and `progress` has none. */
  readonly note: Note | undefined;
}

/** @param start the progress at the start of the session */
export function createTracked(start: Progress | undefined): Tracked {
  const watermark = createWatermark();
  /** The map at the start of the session. Snapshots repeat it for events that have not been read again yet. */
  const before = start && decodeCompletion(start.sequenceNumber, start.completed);
  let note = decodeNote(start?.note);

  const safe = () => watermark.safe() ?? start;

  return {
    isDone: (sequenceNumber) => before !== undefined && isDone(before, sequenceNumber),
    begin: watermark.begin,
    end: watermark.end,
    pass: watermark.pass,
    annotate(next) {
      note = next;
    },
    snapshot() {
      const position = safe();
      if (position === undefined) return undefined;
      const { sequenceNumber, offset } = position;
      const completed = encodeCompletion(sequenceNumber, watermark.doneAbove(), before);
      const open = note && isOpen(note, sequenceNumber) && { note: encodeNote(note) };
      return { progress: { sequenceNumber, offset, completed, ...open }, note };
    },
    safe,
    isNoteOpen: (sequenceNumber) => note !== undefined && sequenceNumber !== undefined && isOpen(note, sequenceNumber),
    pending: watermark.pending,
    isMapUnreadable: before === undefined && start !== undefined && start.completed !== '',
  };
}
