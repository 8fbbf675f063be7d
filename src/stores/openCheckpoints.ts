import { type Access, accessOf } from '../access/access.ts';
import { createStoreRecords } from '../observing/callRecords.ts';
import { noMeter } from '../observing/metrics.ts';
import type { Settings } from '../settings/config.ts';
import { eventHubNameOf, placeOf } from '../settings/derived.ts';
import type { CheckpointStore } from './checkpointStore.ts';
import { directoriesOf } from './directories.ts';
import { createFileStore } from './fileCheckpoints.ts';
import { recorded } from './recorded.ts';

export type StoreSettings = Pick<Settings, 'identity' | 'hub' | 'backends' | 'data' | 'store' | 'checkpoints'>;

const verbs = {
  ownerships: 'list',
  change: 'write',
  progress: 'read',
  checkpoints: 'list',
  writeProgress: 'write',
} as const;

/**
 * The store that the settings choose. The storage client takes 20 MB, so it is loaded only when needed.
 * @throws Error when the checkpoint file is not valid
 */
export async function openStore(
  settings: StoreSettings,
  records = createStoreRecords(noMeter),
  access: Pick<Access, 'account'> = accessOf(settings),
): Promise<CheckpointStore> {
  const { checkpoints, store } = settings;
  const plain = await openPlain(settings, access);
  return recorded(plain, verbs, 'checkpoints', placeOf(checkpoints, store, 'CHECKPOINTS'), records);
}

async function openPlain({ hub, data, store, checkpoints }: StoreSettings, access: Pick<Access, 'account'>) {
  const { endpoint, namespace, name, consumerGroup } = hubPlaceOf(hub);
  if (store.kind !== 'blob') {
    const place = [endpoint, name, consumerGroup].join(' ');
    return createFileStore(directoriesOf(data).checkpoints, place);
  }
  const { createBlobStore } = await import('./blobCheckpoints.ts');
  const { container } = checkpoints;
  return createBlobStore({ account: access.account('checkpoints'), container, namespace, hub: name, consumerGroup });
}

/** What the records of one consumer group are kept under. */
export function hubPlaceOf({ eventsConnectionString, consumerGroup, ...hub }: StoreSettings['hub']) {
  const endpoint = hub.eventsNamespace || (/Endpoint=sb:\/\/([^/;]+)/.exec(eventsConnectionString)?.[1] ?? '');
  const name = eventHubNameOf({ eventsConnectionString, ...hub });
  return { endpoint, namespace: endpoint.replace(/:\d+$/, ''), name, consumerGroup };
}
