import type { Settings } from '../../settings/config.ts';
import { directoriesOf } from '../../settings/directories.ts';
import { createFileStore } from './fileStore.ts';
import type { Store } from './store.ts';

/**
 * The store of the settings. The storage client is loaded only for the store that needs it: it takes 20 MB.
 * @throws Error when the file of checkpoints cannot be understood
 */
export async function openStore({
  hub,
  data,
  checkpoints,
}: Pick<Settings, 'hub' | 'data' | 'checkpoints'>): Promise<Store> {
  const { eventsConnectionString, consumerGroup } = hub;
  const endpoint = /Endpoint=sb:\/\/([^/;]+)/.exec(eventsConnectionString)?.[1] ?? '';
  const hubName = /EntityPath=([^;]+)/.exec(eventsConnectionString)?.[1] ?? '';
  if (checkpoints.store !== 'blob') {
    return createFileStore(directoriesOf(data).checkpoints, [endpoint, hubName, consumerGroup].join(' '));
  }
  const { createBlobStore } = await import('./blobStore.ts');
  const namespace = endpoint.replace(/:\d+$/, '');
  return createBlobStore({ ...checkpoints, namespace, hub: hubName, consumerGroup });
}
