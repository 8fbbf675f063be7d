import type { Meter } from '../metrics/meter.ts';
import { type StoreFault, type StoreKey, type StoreOperation, stores } from '../protocol/vocabulary.ts';

/** Records the calls to the stores of a program. */
export interface StoreRecords {
  /** @returns called with the fault, if any, when the store has answered */
  begin(store: StoreKey, operation: StoreOperation): (fault?: StoreFault) => void;
}

export function createStoreRecords(meter: Meter): StoreRecords {
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
    begin(store, operation) {
      const begunAt = performance.now();
      count(store, 1);
      return (fault) => {
        count(store, -1);
        record((performance.now() - begunAt) / 1000, store, operation, fault ?? '');
      };
    },
  };
}
