import type { LogLines } from '../log/log.ts';
import { noMeter } from '../metrics/meter.ts';
import {
  type BackendOpenerOptions,
  type CommonSettings,
  createBackendOpener,
  type TokenEndpointState,
} from './backendOpener.ts';
import { cacheEntries, createCache } from './cache.ts';
import type { Call } from './call.ts';
import { type InformationModel, informationModel } from './informationModel.ts';
import { type Principal, type PrincipalManager, principalManager } from './principalManager.ts';
import type { BackendState } from './state.ts';
import { type TypeDefinition, type TypeRegistry, typeRegistry } from './typeRegistry.ts';

/** The backends as one message sees them. */
export interface BoundBackends {
  readonly informationModel: InformationModel;
  readonly typeRegistry: TypeRegistry;
  readonly principalManager: PrincipalManager;
}

export type BackendName = keyof BoundBackends;

export interface Backends {
  bind(call: Call): BoundBackends;
  /**
   * Undefined when all needed backends are available. Otherwise resolves with true when they are, or with false when
   * `pointless` is aborted or the service stops. A message waits for it before it starts (B5).
   */
  ready(needs: readonly BackendName[], pointless: AbortSignal): Promise<boolean> | undefined;
  /** Whether calls to it do not wait for the end of an outage. */
  isUp(name: BackendName): boolean;
  /** Attempts that wait for a connection. */
  waiting(): number;
  /** For operators. */
  states(): Readonly<Record<BackendName, BackendState>> & TokenEndpointState;
  close(): Promise<void>;
}

interface Settings extends CommonSettings {
  readonly informationModelUrl: string;
  readonly typeRegistryUrl: string;
  readonly principalManagerUrl: string;
}

/** The three backends. Each has its own connections and circuit. */
export function createBackends(settings: Settings, log: LogLines, options: BackendOpenerOptions = {}): Backends {
  const { open, tokenEndpoint, close } = createBackendOpener(settings, log, options);
  const { meter = noMeter } = options;
  const countLookUp = meter.counter('device_messaging.cache.lookups');
  const types = createCache<TypeDefinition>(cacheEntries, (result) => countLookUp('types', result));
  const identities = createCache<Principal>(cacheEntries, (result) => countLookUp('identities', result));
  const cacheMs = settings.cacheSeconds * 1000;
  const backends = {
    informationModel: open('informationModel', settings.informationModelUrl),
    typeRegistry: open('typeRegistry', settings.typeRegistryUrl),
    principalManager: open('principalManager', settings.principalManagerUrl),
  };
  const waitingFor = (name: BackendName) => backends[name].untilUp();
  const isUp = (name: BackendName) => backends[name].isUp();

  async function allReady(needs: readonly BackendName[]): Promise<boolean> {
    for (;;) {
      const out = needs.map(waitingFor).filter((waiting) => waiting !== undefined);
      if (out.length === 0) return true;
      if ((await Promise.all(out)).includes(false)) return false;
    }
  }

  return {
    bind: (call) => ({
      informationModel: informationModel(backends.informationModel.bind(call)),
      typeRegistry: typeRegistry(backends.typeRegistry.bind(call), call, types, cacheMs),
      principalManager: principalManager(backends.principalManager.bind(call), call, {
        url: settings.principalManagerUrl,
        cache: identities,
        cacheMs,
      }),
    }),
    ready(needs, pointless) {
      if (needs.every(isUp)) return undefined;
      if (pointless.aborted) return Promise.resolve(false);
      return new Promise((resolve) => {
        const leave = () => resolve(false);
        pointless.addEventListener('abort', leave, { once: true });
        void allReady(needs).then((isReady) => {
          pointless.removeEventListener('abort', leave);
          resolve(isReady);
        });
      });
    },
    isUp,
    waiting: () => Object.values(backends).reduce((sum, backend) => sum + backend.waiting(), 0),
    states: () => ({
      informationModel: backends.informationModel.state(),
      typeRegistry: { ...backends.typeRegistry.state(), cacheEntries: types.entries() },
      principalManager: { ...backends.principalManager.state(), cacheEntries: identities.entries() },
      ...tokenEndpoint(),
    }),
    close,
  };
}
