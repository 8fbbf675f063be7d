import { vi } from 'vitest';
import { createStoreRecords, type StoreRecords } from '../../../src/observing/callRecords.ts';
import { type StoreKey, type StoreOperation, storeOperations, stores } from '../../../src/protocol/vocabulary.ts';
import { StorageError } from '../../../src/stores/account.ts';
import { recorded } from '../../../src/stores/open.ts';
import { by, type Chapter, times } from '../support/points.ts';

const place = { setting: 'STORE_CONNECTION_STRING' };
/** Makes one call to a store. */
function ask<T>(store: StoreKey, records: StoreRecords, operation: StoreOperation, work: () => Promise<T>): Promise<T> {
  return recorded({ work }, { work: operation }, store, place, records).work();
}
const askedMs = (store: StoreKey, operation: StoreOperation) =>
  3_600 + 10 * stores.indexOf(store) + storeOperations.indexOf(operation);

/** What is asked of stores, and how long they take. */
export const storeCalls: Chapter = {
  async record(meter) {
    const records = createStoreRecords(meter);
    for (const store of stores) {
      const after = (ms: number, error?: Error) => async () => {
        await new Promise((resolve) => setTimeout(resolve, ms));
        if (error) throw error;
      };
      for (const operation of storeOperations) {
        const asked = ask(store, records, operation, after(askedMs(store, operation)));
        await vi.advanceTimersByTimeAsync(4_000);
        await asked;
      }
      if (store !== 'checkpoints') continue;
      for (const [ms, status] of [
        [3_650, 403],
        [3_651, undefined],
      ] as const) {
        const asked = ask(
          store,
          records,
          'list',
          after(ms, new StorageError('listing', status, 'AuthenticationFailed')),
        ).catch(() => {});
        await vi.advanceTimersByTimeAsync(4_000);
        await asked;
      }
    }
    for (const [index, store] of stores.entries())
      await times(161 + index, () => void ask(store, records, 'list', () => new Promise(() => {})));
  },
  points: {
    'device_messaging.store.duration': {
      ...by('store=checkpoints operation', { list: 3.6, read: 3.601, write: 3.602, delete: 3.603 }),
      ...by('store=checkpoints operation=list error.type', { refused: 3.65, unavailable: 3.651 }),
      ...by('store=deadLetters operation', { list: 3.61, read: 3.611, write: 3.612, delete: 3.613 }),
      ...by('store=files operation', { list: 3.62, read: 3.621, write: 3.622, delete: 3.623 }),
    },
    'device_messaging.store.requests': { 'store=checkpoints': 161, 'store=deadLetters': 162, 'store=files': 163 },
  },
};
