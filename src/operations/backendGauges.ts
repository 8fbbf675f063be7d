import type { BackendState } from '../backends/state.ts';
import type { Meter } from '../metrics/meter.ts';
import type { BackendKey } from '../protocol/vocabulary.ts';

type States = Readonly<Partial<Record<BackendKey, BackendState>>>;

const caches = { typeRegistry: 'types', principalManager: 'identities' } as const;
const cacheOf = { informationModel: undefined, tokenEndpoint: undefined, ...caches };

/** Registers the metrics that are read from the state of the backends that a program has. */
export function observeBackends(meter: Meter, states: () => States): void {
  const each = () => Object.entries(states()) as [BackendKey, BackendState][];

  meter.observe('device_messaging.backend.out', () =>
    each().map(([name, { circuit }]) => [circuit === 'open' ? 1 : 0, name] as const),
  );
  meter.observe('device_messaging.backend.connections', () =>
    each().flatMap(([name, { connections }]) => {
      const { inUse, waiting } = connections;
      return [[inUse, name, 'used'] as const, [waiting, name, 'waiting'] as const];
    }),
  );
  meter.observe('device_messaging.cache.entries', () =>
    each().flatMap(([name, { cacheEntries }]) => {
      const cache = cacheOf[name];
      return cache === undefined || cacheEntries === undefined ? [] : [[cacheEntries, cache] as const];
    }),
  );
}
