import type { Settings } from '../../settings/config.ts';
import { connectionOf } from '../../settings/derived.ts';
import { directoriesOf } from '../../settings/directories.ts';
import { createFileStore } from './fileStore.ts';
import type { Store } from './store.ts';

/**
 * The store that the settings choose. The storage client takes 20 MB, so it is loaded only when needed.
 * @throws Error when the checkpoint file is not valid
 */
export async function openStore({
  hub,
  data,
  store,
  checkpoints,
}: Pick<Settings, 'hub' | 'data' | 'store' | 'checkpoints'>): Promise<Store> {
  const { eventsConnectionString, consumerGroup } = hub;
  const endpoint = /Endpoint=sb:\/\/([^/;]+)/.exec(eventsConnectionString)?.[1] ?? '';
  const hubName = /EntityPath=([^;]+)/.exec(eventsConnectionString)?.[1] ?? '';
  if (store.kind !== 'blob') {
    return createFileStore(directoriesOf(data).checkpoints, [endpoint, hubName, consumerGroup].join(' '));
  }
  const { createBlobStore } = await import('./blobStore.ts');
  const namespace = endpoint.replace(/:\d+$/, '');
  const connectionString = connectionOf(checkpoints, store);
  return createBlobStore({
    connectionString,
    container: checkpoints.container,
    namespace,
    hub: hubName,
    consumerGroup,
  });
}
