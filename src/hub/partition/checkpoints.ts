import { decodeNote, encodeNote, isOpen, type Note } from '../quarantine/note.ts';
import { decodeCompletion, encodeCompletion, isDone } from './completionMap.ts';
import { type Begun, createWatermark, type Position } from './watermark.ts';

/** How far a partition has come: everything up to the position, and what the map says above it. */
export interface Progress extends Position {
  /** See completionMap. */
  readonly completed: string;
  /** See note; absent in normal times. */
  readonly note?: string;
}

export interface CheckpointLimits {
  /** A checkpoint after so many messages, and more of them while the map is large; or after so many milliseconds. */
  readonly everyMessages: number;
  readonly everyMs: number;
}

export interface CheckpointOptions {
  /** As the reader before has written it down. */
  readonly progress: Progress | undefined;
  /** Writes the progress down. Answers false when somebody else owns the partition by now. */
  checkpoint(progress: Progress): Promise<boolean>;
  readonly limits: CheckpointLimits;
  onTrouble(error: unknown, what: string): void;
  /** Somebody else owns the partition. Nothing more is written. */
  onRevoked(): void;
}

/** What is done of a partition, and the writing down of it: now and then, and on demand (G1). */
export interface Checkpoints {
  /** Whether the reader before has written down that this event is done. */
  isDone(sequenceNumber: number): boolean;
  /** Registers a message in hub order. */
  begin(position: Position): Begun;
  /** It has been handled to its end. */
  end(begun: Begun): void;
  /** Registers an event that needs no handling. */
  pass(position: Position): void;
  /** Writes what has not been written yet; tries again for a while when the store fails. */
  flush(): Promise<void>;
  /** Writes this note, and the progress, at once; keeps it in every checkpoint until it is past. Answers whether it is written. */
  annotate(next: Note): Promise<boolean>;
  /** Writes nothing more by itself, and after `lost` nothing at all. */
  stop(lost: boolean): void;
  /** Messages begun and not handled to their end. */
  pending(): number;
}

/** A stop or a hand-over while the store fails for a moment must not cost what has been finished (G3). */
const flushesForMs = 5_000;
const flushesAgainMs = 500;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** After a longer map, the next checkpoint waits for as many more messages: so a message's share of the writing stays the same. */
const shortMap = 4_000;

export function createCheckpoints({
  progress,
  checkpoint,
  limits,
  onTrouble,
  onRevoked,
}: CheckpointOptions): Checkpoints {
  const watermark = createWatermark();
  /** As the reader before has left it. What of it has not been seen again yet must stay in the record. */
  const before = progress && decodeCompletion(progress.sequenceNumber, progress.completed);
  let mapLength = progress?.completed.length ?? 0;
  const safePosition = () => watermark.safe() ?? progress;
  let note = decodeNote(progress?.note);
  let writtenNote = note;
  /** Events since the last checkpoint, and those among them that were handled: events passed over wait for the time. */
  let unwritten = 0;
  let handled = 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
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
    const given = note;
    unwritten = 0;
    handled = 0;
    mapLength = safe.completed.length;
    try {
      if (await checkpoint(safe)) {
        writtenNote = given;
        return;
      }
      stop(true);
      onRevoked();
    } catch (error) {
      unwritten += since.unwritten;
      handled += since.handled;
      onTrouble(error, 'checkpoint not written');
    }
  }

  /** One write at a time; the newest progress wins. */
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
    if (!stopped) timer ??= setTimeout(() => void write(), limits.everyMs).unref();
  }

  function count() {
    unwritten += 1;
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
      unwritten += 1;
      writeLater();
    },
    async flush() {
      if (writing !== undefined) await writing;
      const until = performance.now() + flushesForMs;
      const isLeft = () => unwritten > 0 && !lost && safePosition() !== undefined;
      for (await write(); isLeft() && performance.now() < until; await write()) await sleep(flushesAgainMs);
    },
    async annotate(next) {
      note = next;
      unwritten += 1;
      if (writing !== undefined) await writing; // it may have begun before
      await write();
      return writtenNote === next;
    },
    stop,
    pending: watermark.pending,
  };
}
