import { type StoreFault, type StoreKey, type StoreOperation, stores } from '../protocol/vocabulary.ts';
import type { Meter } from './meter.ts';

export type StoreRecords = ReturnType<typeof createStoreRecords>;

/** Records the calls to the stores of a program. */
export function createStoreRecords(meter: Meter) {
  const record = meter.histogram('device_messaging.store.duration');
  const underWay = new Map<StoreKey, number>();
  const count = (store: StoreKey, more: number) => underWay.set(store, (underWay.get(store) ?? 0) + more);
  meter.observe('device_messaging.store.requests', () =>
    stores.flatMap((store) => {
      const number = underWay.get(store);
      return number === undefined ? [] : [[number, store] as const];
    }),
  );

  return {
    /** @returns called with the fault, if any, when the store has answered */
    begin(store: StoreKey, operation: StoreOperation) {
      const begunAt = performance.now();
      count(store, 1);
      return (fault?: StoreFault) => {
        count(store, -1);
        record((performance.now() - begunAt) / 1000, store, operation, fault ?? '');
      };
    },
  };
}
