import type { StoreRecords } from '../observing/callRecords.ts';
import { type StoreLocation, storeFailureOf } from '../observing/storeFailure.ts';
import type { StoreKey, StoreOperation } from '../protocol/vocabulary.ts';

/** What is asked of a store by each of its methods. */
type Verbs<Store> = { readonly [Method in keyof Store]: StoreOperation };

type Methods<Store> = { readonly [Method in keyof Store]: (...given: never[]) => Promise<unknown> };

/**
 * A store whose calls are recorded. They reject with a StoreFailure, which says what to do, or with the error itself when it says
 * nothing about the store.
 */
export function recorded<Store extends Methods<Store>>(
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
