import { pause } from '../../concurrency/pause.ts';
import type { CrashRecord } from '../quarantine/crashRecord.ts';
import { type CheckpointOptions, type CheckpointWriter, createCheckpointWriter } from './checkpointWriter.ts';
import { createTracked, type Tracked } from './tracked.ts';

/** What is done of a partition, and its checkpoints: written at intervals and on demand (G1). */
export interface Checkpoints
  extends Pick<Tracked, 'isDone' | 'begin' | 'end' | 'pass' | 'pending'>,
    Pick<CheckpointWriter, 'flush' | 'stop' | 'state'> {
  /** Writes a checkpoint with this crash record and returns whether that worked. Later ones keep it until it is past. */
  recordCrashState(next: CrashRecord): Promise<boolean>;
  /** Writes a checkpoint of what has ended; tries again while the store fails, until `draining`, when the last checkpoint follows. */
  recordEnds(draining: AbortSignal): Promise<void>;
}

/** Between two attempts. */
const pauseMs = 500;

export function createCheckpoints(options: CheckpointOptions): Checkpoints {
  const tracked = createTracked(options.progress);
  const writer = createCheckpointWriter(tracked, options);
  if (tracked.isMapUnreadable) {
    options.onTrouble(
      new Error('the map is damaged, or of another version or position'),
      'handling again what was done above the checkpoint',
    );
  }

  return {
    isDone: tracked.isDone,
    begin: tracked.begin,
    end(begun) {
      tracked.end(begun);
      writer.changed('handled');
    },
    pass(position) {
      tracked.pass(position);
      writer.changed('passed');
    },
    async recordCrashState(next) {
      tracked.recordCrashState(next);
      writer.changed('crash record');
      await writer.write();
      return writer.crashRecord() === next;
    },
    async recordEnds(draining) {
      for (await writer.write(); writer.state().isFailing && !draining.aborted; await writer.write())
        await pause(pauseMs, draining);
    },
    flush: writer.flush,
    stop: writer.stop,
    pending: tracked.pending,
    state: writer.state,
  };
}
