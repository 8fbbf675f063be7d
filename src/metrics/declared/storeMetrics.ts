import { closed, histogram, updowncounter } from 'telemetry/declaration.ts';
import { storeFaults, storeOperations, stores } from '../../protocol/vocabulary.ts';
import { requestBuckets } from './buckets.ts';

const store = closed('device_messaging.store', 'which store; the files are those of methods', stores);

/** What keeps checkpoints, dead letters and files, in files or in blobs. */
export const storeMetrics = {
  'device_messaging.store.duration': histogram(
    {
      unit: 's',
      what: 'Duration of what is asked of a store, with the repeats after failures',
      use: 'Which store is slow, or fails. Alert on `error.type` for five minutes: `todo` of the log says what to do. Until then, no partition changes hands.',
      buckets: requestBuckets,
    },
    store,
    closed('device_messaging.operation', 'what is asked of it', storeOperations),
    closed('error.type', 'it has refused, or was not available; absent when it has done it', ['', ...storeFaults]),
  ),
  'device_messaging.store.requests': updowncounter(
    {
      unit: '{request}',
      what: 'What is asked of the store and not answered yet',
      use: 'Above 0 for a minute: the store hangs.',
    },
    store,
  ),
} as const;
