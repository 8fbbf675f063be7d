import type { Note } from '../quarantine/note.ts';
import { type CheckpointOptions, type CheckpointWriter, createCheckpointWriter } from './checkpointWriter.ts';
import { createTracked, type Tracked } from './tracked.ts';

/** What is done of a partition, and its checkpoints: written at intervals and on demand (G1). */
export interface Checkpoints
  extends Pick<Tracked, 'isDone' | 'begin' | 'end' | 'pass' | 'pending'>,
    Pick<CheckpointWriter, 'flush' | 'stop' | 'state'> {
  /** Writes a checkpoint with this note and returns whether that worked. Later ones keep it until it is past. */
  annotate(next: Note): Promise<boolean>;
}

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
    async annotate(next) {
      tracked.annotate(next);
      writer.changed('note');
      await writer.write();
      return writer.note() === next;
    },
    flush: writer.flush,
    stop: writer.stop,
    pending: tracked.pending,
    state: writer.state,
  };
}
