import { type Access, accessOf } from '../access/access.ts';
import { createStoreRecords, type StoreRecords } from '../observing/callRecords.ts';
import type { LogLines } from '../observing/log.ts';
import { noMeter } from '../observing/metrics.ts';
import { type StoreLocation, storeFailureOf } from '../observing/storeFailure.ts';
import type { StoreKey, StoreOperation } from '../protocol/vocabulary.ts';
import type { Settings } from '../settings/config.ts';
import { day, letterCounts } from '../settings/constants.ts';
import { eventHubNameOf, placeOf } from '../settings/derived.ts';
import type { CheckpointStore } from './checkpointStore.ts';
import type { LetterStorage } from './deadLetter.ts';
import { createDeadLetters } from './deadLetterStore.ts';
import { directoriesOf } from './directories.ts';
import { createFileStore } from './fileCheckpoints.ts';
import { createDirectory } from './letterFiles.ts';

// The storage client takes 20 MB: what uses it is loaded when it is needed.

type StoresSettings = Pick<Settings, 'identity' | 'hub' | 'backends' | 'data' | 'store'>;
export type StoreSettings = StoresSettings & Pick<Settings, 'checkpoints'>;

/** The checkpoint store of the settings. @throws Error when the checkpoint file is not valid */
export async function openStore(
  settings: StoreSettings,
  records = createStoreRecords(noMeter),
  access: Pick<Access, 'account'> = accessOf(settings),
): Promise<CheckpointStore> {
  const { hub, data, store, checkpoints } = settings;
  const { inFile, namespace, name, consumerGroup } = hubPlaceOf(hub);
  async function open() {
    if (store.kind !== 'blob') return createFileStore(directoriesOf(data).checkpoints, inFile);
    const { createBlobStore } = await import('./blobCheckpoints.ts');
    const { container } = checkpoints;
    return createBlobStore({ account: access.account('checkpoints'), container, namespace, hub: name, consumerGroup });
  }
  const verbs: Verbs<CheckpointStore> = {
    ...({ ownerships: 'list', progress: 'read', checkpoints: 'list' } as const),
    ...({ change: 'write', writeCheckpoint: 'write' } as const),
  };
  return recorded(await open(), verbs, 'checkpoints', placeOf(checkpoints, store, 'CHECKPOINTS'), records);
}

/** What the records of one consumer group are kept under, in blobs or in a file. */
export function hubPlaceOf({ eventsConnectionString, consumerGroup, ...hub }: Settings['hub']) {
  const endpoint = hub.eventsNamespace || (/Endpoint=sb:\/\/([^/;]+)/.exec(eventsConnectionString)?.[1] ?? '');
  const name = eventHubNameOf({ eventsConnectionString, ...hub });
  const inFile = [endpoint, name, consumerGroup].join(' ');
  return { inFile, namespace: endpoint.replace(/:\d+$/, ''), name, consumerGroup };
}

export function openDeadLetters(
  settings: StoresSettings & Pick<Settings, 'deadLetters'>,
  log: Pick<LogLines, 'warn'>,
  records = createStoreRecords(noMeter),
  access: Pick<Access, 'account'> = accessOf(settings),
) {
  const { data, store, deadLetters } = settings;
  const { container, maxBytes, retentionDays } = deadLetters;
  async function open() {
    if (store.kind !== 'blob') return createDirectory(directoriesOf(data).deadLetters);
    const { createBlobs } = await import('./labelledBlobs.ts');
    return createBlobs({ container, account: access.account('deadLetters') });
  }
  const verbs: Verbs<LetterStorage> = { entries: 'list', read: 'read', write: 'write', remove: 'delete' };
  const place = placeOf(deadLetters, store, 'DEAD_LETTERS');
  const deviceBytes = (maxBytes * letterCounts.deviceLetters) / letterCounts.maxLetters; // D280
  return createDeadLetters({
    open: async () => recorded(await open(), verbs, 'deadLetters', place, records),
    limits: { ...letterCounts, deviceBytes, maxBytes, retentionMs: retentionDays * day * 1000 },
    log,
    now: Date.now,
  });
}

type Verbs<Store> = { readonly [Method in keyof Store]: StoreOperation };

/** Records the calls. They reject with a StoreFailure, which says what to do, or with an error that says nothing about the store. */
export function recorded<Store extends { [Method in keyof Store]: (...given: never[]) => Promise<unknown> }>(
  store: Store,
  verbs: Verbs<Store>,
  key: StoreKey,
  place: StoreLocation,
  records: StoreRecords,
): Store {
  const recordedMethod =
    (method: keyof Store) =>
    async (...given: never[]) => {
      const ended = records.begin(key, verbs[method]);
      try {
        const done = await store[method](...given);
        ended();
        return done;
      } catch (error) {
        const failure = storeFailureOf(error, place);
        ended(failure?.fault);
        throw failure ?? error;
      }
    };
  const methods = Object.keys(verbs) as (keyof Store)[];
  return Object.fromEntries(methods.map((method) => [method, recordedMethod(method)])) as unknown as Store;
}
