import { pause, sleep } from '../concurrency/waiting.ts';
import type { LogText } from '../observing/events.ts';
import type { CrashRecord } from './crashRecord.ts';
import { type Checkpoint, createTracked } from './progressTracker.ts';
import type { Position, WorkHandle } from './watermark.ts';

export interface CheckpointOptions {
  readonly progress: Checkpoint | undefined;
  /** Writes a checkpoint. Returns false when another instance owns the partition. */
  checkpoint(progress: Checkpoint): Promise<boolean>;
  readonly limits: {
    /** A checkpoint is due after this number of messages (more while the map is long), or after this time. */
    readonly everyMessages: number;
    readonly everyMs: number;
  };
  /** Reports a failure after which the partition goes on. */
  onTrouble(error: unknown, what: LogText<'error'>): void;
  /** Another instance owns the partition. Nothing more is written. */
  onRevoked(): void;
}

/** A short failure of the store during a stop or release must not cause redelivery of finished messages (G3). */
const flushRetriesMs = 5_000;
const retryPauseMs = 500;

/** At the beginning of a session after unclean shutdowns: even a session that soon crashes moves the position on. */
const watchful = { everyMs: 50, intervals: 4 };

/** Characters. With a longer map checkpoints are rarer, so that the bytes written for each message stay the same. */
const shortMap = 4_000;

/** `since`: when the first came; `handled`: the handled messages among them, which alone make a checkpoint due by number. */
const noChanges = { since: undefined as number | undefined, handled: 0 };

export type Checkpoints = ReturnType<typeof createCheckpoints>;

/** What is done of a partition, and its checkpoints: written at intervals, on demand, or never again (G1). One write at a time. */
export function createCheckpoints({ progress, checkpoint, limits, onTrouble, onRevoked }: CheckpointOptions) {
  const tracked = createTracked(progress);
  const watchfulUntil = performance.now() + watchful.intervals * limits.everyMs;
  let mode: 'at intervals' | 'on demand' | 'never' = 'at intervals';
  /** Since the last snapshot, but all since the last checkpoint when that one has failed. */
  let changes = noChanges;
  let unwrittenSince: number | undefined;
  /** What the last checkpoint of the session contains; at first, that of the session before. */
  let writtenNumber = progress?.sequenceNumber;
  /** As it was given in this session. */
  let writtenRecord: CrashRecord | undefined;
  let mapLength = progress?.completed.length ?? 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let isFailing = false;
  let inWriting = 0;

  const isDue = () => changes.handled * shortMap >= limits.everyMessages * Math.max(shortMap, mapLength);

  /** Ends the writing at intervals; when `lost`, nothing more is written on demand, too. */
  function stop(lost: boolean) {
    if (mode !== 'never') mode = lost ? 'never' : 'on demand';
    clearTimeout(timer);
    timer = undefined;
  }

  async function writeOnce() {
    if (mode === 'never' || changes.since === undefined) return;
    const snapshot = tracked.snapshot();
    if (snapshot === undefined) return;
    const { progress: next, crashRecord } = snapshot;
    const contained = changes;
    changes = noChanges;
    inWriting = contained.handled;
    mapLength = next.completed.length;
    try {
      if (await checkpoint(next)) {
        writtenNumber = next.sequenceNumber;
        writtenRecord = crashRecord;
        unwrittenSince = changes.since;
        isFailing = false;
        return;
      }
      stop(true);
      onRevoked();
    } catch (error) {
      changes = { since: contained.since, handled: contained.handled + changes.handled };
      failures += 1;
      isFailing = true;
      onTrouble(error, 'checkpoint not written');
    } finally {
      inWriting = 0;
    }
  }

  function writeNow(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= writeOnce().finally(() => {
      writing = undefined;
      if (changes.since !== undefined) writeLater();
    });
    return writing;
  }

  function writeLater() {
    if (mode !== 'at intervals' || timer !== undefined) return;
    const isWatchful = tracked.isCrashRecordOpen(writtenNumber) && performance.now() < watchfulUntil;
    const ms = isWatchful ? Math.min(watchful.everyMs, limits.everyMs) : limits.everyMs;
    timer = setTimeout(() => void writeNow(), ms).unref();
  }

  function changed(what: 'handled' | 'passed' | 'crash record') {
    const since = changes.since ?? performance.now();
    changes = { since, handled: changes.handled + (what === 'handled' ? 1 : 0) };
    unwrittenSince ??= since;
    if (what === 'crash record') return;
    if (what === 'handled' && isDue() && mode === 'at intervals') void writeNow();
    else writeLater();
  }

  async function write() {
    if (writing !== undefined) await writing; // that write may not contain the last changes
    await writeNow();
  }

  if (tracked.isMapUnreadable) {
    const error = new Error('the map is damaged, or of another version or position');
    onTrouble(error, 'handling again what was done above the checkpoint');
  }

  return {
    isDone: tracked.isDone,
    begin: tracked.begin,
    pending: tracked.pending,
    end(begun: WorkHandle) {
      tracked.end(begun);
      changed('handled');
    },
    pass(position: Position) {
      tracked.pass(position);
      changed('passed');
    },
    /** Writes a checkpoint with this crash record and returns whether that worked. Later ones keep it until it is past. */
    async recordCrashState(next: CrashRecord): Promise<boolean> {
      tracked.recordCrashState(next);
      changed('crash record');
      await write();
      return writtenRecord === next;
    },
    /** Writes a checkpoint of what has ended; tries again while the store fails, until `draining`, when the last checkpoint follows. */
    async recordEnds(draining: AbortSignal) {
      for (await write(); isFailing && !draining.aborted; await write()) await pause(retryPauseMs, draining);
    },
    /** Writes a checkpoint of what has changed until now, if anything has; retries for a while when the store fails. */
    async flush() {
      const isLeft = () => changes.since !== undefined && mode !== 'never' && tracked.safe() !== undefined;
      if (writing !== undefined) await writing;
      const until = performance.now() + flushRetriesMs;
      for (await writeNow(); isLeft() && performance.now() < until; await writeNow()) await sleep(retryPauseMs);
    },
    stop,
    state: () => ({
      /** Of the last checkpoint written; at first, of the one at the start of the session. */
      sequenceNumber: writtenNumber,
      /** Age of the oldest change that no checkpoint contains; 0 when there is none. */
      ageSeconds: unwrittenSince === undefined ? 0 : (performance.now() - unwrittenSince) / 1000,
      failures,
      isFailing,
      /** Messages that were handled to their end and are in no checkpoint. */
      unwritten: changes.handled + inWriting,
    }),
  };
}
