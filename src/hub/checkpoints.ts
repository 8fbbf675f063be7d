import { completionBytes, decodeCompletion, encodeCompletion } from './completionMap.ts';
import { createWatermark, type Position } from './watermark.ts';

/** How far a partition has come: everything up to the position, and what the map says above it. */
export interface Progress extends Position {
  /** See completionMap. */
  readonly completed: string;
}

export interface CheckpointLimits {
  /** A checkpoint after so many messages, or so many milliseconds. */
  readonly everyMessages: number;
  readonly everyMs: number;
  /** Size of the completion map beyond which intake waits. */
  readonly maxMapBytes: number;
}

export interface CheckpointOptions {
  /** As the reader before has written it down. */
  readonly progress: Progress | undefined;
  /** Writes the progress down. Answers false when somebody else owns the partition by now. */
  checkpoint(progress: Progress): Promise<boolean>;
  readonly limits: CheckpointLimits;
  onTrouble(error: unknown, what: string): void;
  /** Somebody else owns the partition. Nothing more is written. */
  onLost(): void;
}

/** What is done of a partition, and the writing down of it: now and then, and on demand (G1). */
export interface Checkpoints {
  /** Whether the reader before has written down that this event is done. */
  isDone(sequenceNumber: number): boolean;
  /** Registers a message in hub order; call the answer once, when it has been handled to its end. */
  begin(position: Position): () => void;
  /** Registers an event that needs no handling. */
  pass(position: Position): void;
  /** What is done above the watermark would hardly fit into a checkpoint any more. */
  isCrowded(): boolean;
  /** Writes what has not been written yet; tries again for a while when the store fails. */
  flush(): Promise<void>;
  /** Writes nothing more by itself, and after `lost` nothing at all. */
  stop(lost: boolean): void;
  /** Messages begun and not handled to their end. */
  pending(): number;
}

/** A stop or a hand-over while the store fails for a moment must not cost what has been finished (G3). */
const flushesForMs = 5_000;
const flushesAgainMs = 500;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Intake waits a little before the map is full: what is in work then must still fit. */
const crowded = 0.9;

export function createCheckpoints({ progress, checkpoint, limits, onTrouble, onLost }: CheckpointOptions): Checkpoints {
  const watermark = createWatermark();
  const isDone = decodeCompletion(progress?.sequenceNumber ?? -1, progress?.completed ?? '');
  let unwritten = 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let lost = false;

  function safeProgress(): Progress | undefined {
    const safe = watermark.safe() ?? progress;
    if (safe === undefined) return undefined;
    const { sequenceNumber, offset } = safe;
    const completed = encodeCompletion(sequenceNumber, watermark.doneAbove(), limits.maxMapBytes);
    return { sequenceNumber, offset, completed };
  }

  function stop(isLost: boolean) {
    stopped = true;
    lost ||= isLost;
    clearTimeout(timer);
    timer = undefined;
  }

  async function writeOnce() {
    const safe = safeProgress();
    if (lost || safe === undefined || unwritten === 0) return;
    const since = unwritten;
    unwritten = 0;
    try {
      if (await checkpoint(safe)) return;
      stop(true);
      onLost();
    } catch (error) {
      unwritten += since;
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
    if (stopped) return;
    if (unwritten >= limits.everyMessages) void write();
    else writeLater();
  }

  return {
    isDone,
    begin(position) {
      const done = watermark.begin(position);
      return () => {
        done();
        count();
      };
    },
    pass(position) {
      watermark.pass(position);
      unwritten += 1;
      writeLater(); // foreign events are many and cost nothing to pass over again: they wait for the time
    },
    isCrowded: () => completionBytes(watermark.extentAbove()) > limits.maxMapBytes * crowded,
    async flush() {
      if (writing !== undefined) await writing;
      const until = Date.now() + flushesForMs;
      for (await write(); unwritten > 0 && !lost && Date.now() < until; await write()) await sleep(flushesAgainMs);
    },
    stop,
    pending: watermark.pending,
  };
}
