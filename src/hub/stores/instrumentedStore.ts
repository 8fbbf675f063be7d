import type { InstrumentedCall } from '../../storage/instrumentedCall.ts';
import type { CheckpointStore } from './checkpointStore.ts';

/** A store whose calls are recorded, with failures that say what to do. */
export const instrumentedStore = (store: CheckpointStore, ask: InstrumentedCall): CheckpointStore => ({
  ownerships: () => ask('list', store.ownerships),
  change: (seen, next) => ask('write', () => store.change(seen, next)),
  progress: (partition) => ask('read', () => store.progress(partition)),
  checkpoints: () => ask('list', store.checkpoints),
  writeProgress: (reader, progress) => ask('write', () => store.writeProgress(reader, progress)),
});
