import type { Message } from '../../log/events.ts';
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

export interface CheckpointLimits {
  /** A checkpoint is due after so many messages (more while the map is long), or after so many milliseconds. */
  readonly everyMessages: number;
  readonly everyMs: number;
}

export interface CheckpointOptions {
  /** The checkpoint at the start of the session. */
  readonly progress: Progress | undefined;
  /** Writes a checkpoint. Returns false when another instance owns the partition. */
  checkpoint(progress: Progress): Promise<boolean>;
  readonly limits: CheckpointLimits;
  onTrouble(error: unknown, what: Message<'error'>): void;
  /** Another instance owns the partition. Nothing more is written. */
  onRevoked(): void;
}

/** For operators. */
export interface CheckpointState {
  /** Of the last one that was written, at first of the one at the start of the session. */
  readonly sequenceNumber: number | undefined;
  /** How long something has been done that no checkpoint contains; 0 when there is nothing such. */
  readonly ageSeconds: number;
  /** Writes that have failed since the session began. */
  readonly failures: number;
}

/** Tracks what is done of a partition, and writes checkpoints at intervals and on demand (G1). */
export interface Checkpoints {
  /** Whether the event is done according to the checkpoint at the start of the session. */
  isDone(sequenceNumber: number): boolean;
  /** Registers a message in hub order. */
  begin(position: Position): Begun;
  /** The message has been handled to its end. */
  end(begun: Begun): void;
  /** Registers an event that needs no handling. */
  pass(position: Position): void;
  /** Writes a checkpoint if anything has changed; retries for a while when the store fails. */
  flush(): Promise<void>;
  /** Writes a checkpoint with this note and returns whether that worked. Later ones keep it until it is past. */
  annotate(next: Note): Promise<boolean>;
  /** Ends the writing at intervals; when `lost`, `flush` and `annotate` write nothing more, too. */
  stop(lost: boolean): void;
  /** Messages begun and not handled to their end. */
  pending(): number;
  state(): CheckpointState;
}

/** A short failure of the store during a stop or release must not cause redelivery of finished messages (G3). */
const flushRetriesMs = 5_000;
const flushPauseMs = 500;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** At the beginning of a session after violent ends: one that soon ends so, too, still moves the position on. */
const watchful = { everyMs: 50, intervals: 4 };

/** Characters. With a longer map checkpoints are rarer, so that the bytes written for each message stay the same. */
const shortMap = 4_000;

export function createCheckpoints({
  progress,
  checkpoint,
  limits,
  onTrouble,
  onRevoked,
}: CheckpointOptions): Checkpoints {
  const watermark = createWatermark();
  const watchfulUntil = performance.now() + watchful.intervals * limits.everyMs;
  /** The map at the start of the session. Checkpoints repeat it for events that have not been read again yet. */
  const before = progress && decodeCompletion(progress.sequenceNumber, progress.completed);
  let mapLength = progress?.completed.length ?? 0;
  const safePosition = () => watermark.safe() ?? progress;
  let note = decodeNote(progress?.note);
  let writtenNote = note;
  /** Changes since the last checkpoint, and the handled messages among them: only these make it due by number. */
  let unwritten = 0;
  /** When the first of these changes came; and the first of those that no checkpoint contains. */
  let changedAt = 0;
  let unwrittenSince: number | undefined;
  let handled = 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let writtenUpTo = progress?.sequenceNumber;
  let stopped = false;
  let lost = false;

  function safeProgress(): Progress | undefined {
    const safe = safePosition();
    if (safe === undefined) return undefined;
    const { sequenceNumber, offset } = safe;
    const completed = encodeCompletion(sequenceNumber, watermark.doneAbove(), before);
    return {
      sequenceNumber,
      offset,
      completed,
      ...(note && isOpen(note, sequenceNumber) && { note: encodeNote(note) }),
    };
  }

  const isDue = () => handled * shortMap >= limits.everyMessages * Math.max(shortMap, mapLength);

  function stop(isLost: boolean) {
    stopped = true;
    lost ||= isLost;
    clearTimeout(timer);
    timer = undefined;
  }

  async function writeOnce() {
    const safe = safeProgress();
    if (lost || safe === undefined || unwritten === 0) return;
    const since = { unwritten, handled };
    const noteWritten = note;
    unwritten = 0;
    handled = 0;
    mapLength = safe.completed.length;
    try {
      if (await checkpoint(safe)) {
        writtenNote = noteWritten;
        writtenUpTo = safe.sequenceNumber;
        unwrittenSince = unwritten > 0 ? changedAt : undefined;
        return;
      }
      stop(true);
      onRevoked();
    } catch (error) {
      unwritten += since.unwritten;
      handled += since.handled;
      failures += 1;
      onTrouble(error, 'checkpoint not written');
    }
  }

  /** One write at a time. */
  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeOnce().finally(() => {
      writing = undefined;
      if (unwritten > 0) writeLater();
    });
    return writing;
  }

  function writeLater() {
    if (stopped || timer !== undefined) return;
    const isWatchful =
      note !== undefined && isOpen(note, writtenUpTo ?? note.upTo) && performance.now() < watchfulUntil;
    const ms = isWatchful ? Math.min(watchful.everyMs, limits.everyMs) : limits.everyMs;
    timer = setTimeout(() => void write(), ms).unref();
  }

  function changed() {
    if (unwritten === 0) changedAt = performance.now();
    unwrittenSince ??= changedAt;
    unwritten += 1;
  }

  function count() {
    changed();
    handled += 1;
    if (stopped) return;
    if (isDue()) void write();
    else writeLater();
  }

  if (mapLength > 0 && before === undefined) {
    onTrouble(
      new Error('the map is damaged, or of another version or position'),
      'handling again what was done above the checkpoint',
    );
  }

  return {
    isDone: (sequenceNumber) => before !== undefined && isDone(before, sequenceNumber),
    begin: watermark.begin,
    end(begun) {
      watermark.end(begun);
      count();
    },
    pass(position) {
      watermark.pass(position);
      changed();
      writeLater();
    },
    async flush() {
      if (writing !== undefined) await writing;
      const until = performance.now() + flushRetriesMs;
      const isLeft = () => unwritten > 0 && !lost && safePosition() !== undefined;
      for (await write(); isLeft() && performance.now() < until; await write()) await sleep(flushPauseMs);
    },
    async annotate(next) {
      note = next;
      changed();
      if (writing !== undefined) await writing; // that write may not contain the note
      await write();
      return writtenNote === next;
    },
    stop,
    pending: watermark.pending,
    state: () => ({
      sequenceNumber: writtenUpTo,
      ageSeconds: unwrittenSince === undefined ? 0 : (performance.now() - unwrittenSince) / 1000,
      failures,
    }),
  };
}
