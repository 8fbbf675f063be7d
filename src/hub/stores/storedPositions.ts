import { accessOf } from '../../identity/access.ts';
import { directoriesOf } from '../../settings/directories.ts';
import { checkpointPath, readCheckpointFile } from './fileStore.ts';
import { hubPlaceOf, type StoreSettings } from './openStore.ts';

/**
 * The sequence numbers of the stored checkpoints, by partition, without opening the store: a process that opens a checkpoint
 * file takes it over. Those that cannot be understood are left out.
 */
export async function storedPositions(settings: StoreSettings): Promise<ReadonlyMap<string, number>> {
  const { hub, data, store, checkpoints } = settings;
  const { endpoint, namespace, name, consumerGroup } = hubPlaceOf(hub);
  if (store.kind === 'blob') {
    const { readPositions } = await import('./blobStore.ts');
    const account = accessOf(settings).account('checkpoints');
    return readPositions({ account, container: checkpoints.container, namespace, hub: name, consumerGroup });
  }
  const place = [endpoint, name, consumerGroup].join(' ');
  const { progress } = readCheckpointFile(checkpointPath(directoriesOf(data).checkpoints, place), place);
  return new Map(
    progress.flatMap(({ partition, progress: { sequenceNumber } }) =>
      Number.isSafeInteger(sequenceNumber) ? [[partition, sequenceNumber] as const] : [],
    ),
  );
}
