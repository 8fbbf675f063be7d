import { pause, sleep } from '../concurrency/waiting.ts';
import type { LogText } from '../observing/events.ts';
import type { CrashRecord } from './crashRecord.ts';
import { createTracked, type Progress, type Tracked } from './progressTracker.ts';

export interface CheckpointLimits {
  /** A checkpoint is due after this number of messages (more while the map is long), or after this time. */
  readonly everyMessages: number;
  readonly everyMs: number;
}

export interface CheckpointOptions {
  /** The checkpoint at the start of the session. */
  readonly progress: Progress | undefined;
  /** Writes a checkpoint. Returns false when another instance owns the partition. */
  checkpoint(progress: Progress): Promise<boolean>;
  readonly limits: CheckpointLimits;
  onTrouble(error: unknown, what: LogText<'error'>): void;
  /** Another instance owns the partition. Nothing more is written. */
  onRevoked(): void;
}

/** For operators. */
export interface CheckpointState {
  /** Of the last checkpoint written; at first, of the one at the start of the session. */
  readonly sequenceNumber: number | undefined;
  /** Age of the oldest change that no checkpoint contains; 0 when there is none. */
  readonly ageSeconds: number;
  /** Writes that have failed since the session began. */
  readonly failures: number;
  /** The last write has failed. */
  readonly isFailing: boolean;
  /** Messages that were handled to their end and are in no checkpoint. */
  readonly unwritten: number;
}

/** What is done of a partition, and its checkpoints: written at intervals, on demand, or never again (G1). One write at a time. */
export interface Checkpoints extends Pick<Tracked, 'isDone' | 'begin' | 'end' | 'pass' | 'pending'> {
  /** Writes a checkpoint with this crash record and returns whether that worked. Later ones keep it until it is past. */
  recordCrashState(next: CrashRecord): Promise<boolean>;
  /** Writes a checkpoint of what has ended; tries again while the store fails, until `draining`, when the last checkpoint follows. */
  recordEnds(draining: AbortSignal): Promise<void>;
  /** Writes a checkpoint of what has changed until now, if anything has; retries for a while when the store fails. */
  flush(): Promise<void>;
  /** Ends the writing at intervals; when `lost`, nothing more is written on demand, too. */
  stop(lost: boolean): void;
  state(): CheckpointState;
}

/** A short failure of the store during a stop or release must not cause redelivery of finished messages (G3). */
const flushRetriesMs = 5_000;
const retryPauseMs = 500;

/** At the beginning of a session after unclean shutdowns: even a session that soon crashes moves the position on. */
const watchful = { everyMs: 50, intervals: 4 };

/** Characters. With a longer map checkpoints are rarer, so that the bytes written for each message stay the same. */
const shortMap = 4_000;

/** Changes since a snapshot. */
interface Changes {
  /** When the first of them came; undefined when there are none. */
  readonly since: number | undefined;
  /** The handled messages among them: only these make a checkpoint due by number. */
  readonly handled: number;
}

/** What the last checkpoint of the session contains; at first, that of the session before. */
interface LastCheckpoint {
  readonly sequenceNumber: number | undefined;
  /** As it was given in this session. */
  readonly crashRecord: CrashRecord | undefined;
}

const none: Changes = { since: undefined, handled: 0 };

export function createCheckpoints({
  progress,
  checkpoint,
  limits,
  onTrouble,
  onRevoked,
}: CheckpointOptions): Checkpoints {
  const tracked = createTracked(progress);
  const watchfulUntil = performance.now() + watchful.intervals * limits.everyMs;
  /** When checkpoints are written. */
  let mode: 'at intervals' | 'on demand' | 'never' = 'at intervals';
  /** Since the last snapshot, but all since the last checkpoint when that one has failed. */
  let changes = none;
  /** The first change that no checkpoint contains. */
  let unwrittenSince: number | undefined;
  let written: LastCheckpoint = { sequenceNumber: progress?.sequenceNumber, crashRecord: undefined };
  let mapLength = progress?.completed.length ?? 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let isFailing = false;
  /** The messages that the write under way contains. */
  let inWriting = 0;

  const isDue = () => changes.handled * shortMap >= limits.everyMessages * Math.max(shortMap, mapLength);

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
    changes = none;
    inWriting = contained.handled;
    mapLength = next.completed.length;
    try {
      if (await checkpoint(next)) {
        written = { sequenceNumber: next.sequenceNumber, crashRecord };
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
    const isWatchful = tracked.isCrashRecordOpen(written.sequenceNumber) && performance.now() < watchfulUntil;
    const ms = isWatchful ? Math.min(watchful.everyMs, limits.everyMs) : limits.everyMs;
    timer = setTimeout(() => void writeNow(), ms).unref();
  }

  /** Something is done that no checkpoint contains, or the crash record is another. */
  function changed(what: 'handled' | 'passed' | 'crash record') {
    const since = changes.since ?? performance.now();
    changes = { since, handled: changes.handled + (what === 'handled' ? 1 : 0) };
    unwrittenSince ??= since;
    if (what === 'crash record') return;
    if (what === 'handled' && isDue() && mode === 'at intervals') void writeNow();
    else writeLater();
  }

  /** Writes a checkpoint of what has changed until now. */
  async function write() {
    if (writing !== undefined) await writing; // that write may not contain the last changes
    await writeNow();
  }

  if (tracked.isMapUnreadable) {
    onTrouble(
      new Error('the map is damaged, or of another version or position'),
      'handling again what was done above the checkpoint',
    );
  }

  return {
    isDone: tracked.isDone,
    begin: tracked.begin,
    end(begun) {
      tracked.end(begun);
      changed('handled');
    },
    pass(position) {
      tracked.pass(position);
      changed('passed');
    },
    async recordCrashState(next) {
      tracked.recordCrashState(next);
      changed('crash record');
      await write();
      return written.crashRecord === next;
    },
    async recordEnds(draining) {
      for (await write(); isFailing && !draining.aborted; await write()) await pause(retryPauseMs, draining);
    },
    async flush() {
      const isLeft = () => changes.since !== undefined && mode !== 'never' && tracked.safe() !== undefined;
      if (writing !== undefined) await writing;
      const until = performance.now() + flushRetriesMs;
      for (await writeNow(); isLeft() && performance.now() < until; await writeNow()) await sleep(retryPauseMs);
    },
    stop,
    pending: tracked.pending,
    state: () => ({
      sequenceNumber: written.sequenceNumber,
      ageSeconds: unwrittenSince === undefined ? 0 : (performance.now() - unwrittenSince) / 1000,
      failures,
      isFailing,
      unwritten: changes.handled + inWriting,
    }),
  };
}
