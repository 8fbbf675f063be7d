import type { StoreRecords } from '../observing/storeRecords.ts';
import type { StoreKey, StoreOperation } from '../protocol/vocabulary.ts';
import { type StoreLocation, storeFailureOf } from './storeFailure.ts';

/**
 * Makes one call to a store, and records it.
 * @throws StoreFailure, or the error itself when it says nothing about the store
 */
export type InstrumentedCall = <T>(operation: StoreOperation, work: () => Promise<T>) => Promise<T>;

export const createInstrumentedCall =
  (store: StoreKey, place: StoreLocation, records: StoreRecords): InstrumentedCall =>
  async (operation, work) => {
    const ended = records.begin(store, operation);
    try {
      const done = await work();
      ended();
      return done;
    } catch (error) {
      const failure = storeFailureOf(error, place);
      ended(failure?.fault);
      throw failure ?? error;
    }
  };
