import type { AxiosAdapter } from 'axios';
import type { LogLines } from '../log/log.ts';
import { createTroubles } from '../log/troubles.ts';
import { type Meter, noMeter } from '../metrics/meter.ts';
import type { Connections } from './bulkhead.ts';
import { createCache } from './cache.ts';
import type { Call } from './call.ts';
import type { Outage } from './circuit.ts';
import { backendSettings, type CommonSettings, probes, tokenSource } from './common.ts';
import { createBackend } from './http.ts';
import { type InformationModel, informationModel } from './informationModel.ts';
import { type Principal, type PrincipalManager, principalManager } from './principalManager.ts';
import { createRedaction } from './redaction.ts';
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
  /** For operators. */
  states(): Readonly<Record<BackendName, BackendState>>;
  close(): Promise<void>;
}

export interface BackendState {
  readonly circuit: 'closed' | 'open';
  /** While the circuit is open. */
  readonly outage: Outage | undefined;
  readonly connections: Connections;
  /** Answers that are cached; undefined for a backend without a cache. */
  readonly cacheEntries: number | undefined;
}

interface Settings extends CommonSettings {
  readonly informationModelUrl: string;
  readonly typeRegistryUrl: string;
  readonly principalManagerUrl: string;
}

interface Further {
  /** Further secrets to remove from the texts of backends. */
  readonly secrets?: readonly string[];
  /** For the log while something is wrong: how much waits. */
  readonly amounts?: (() => object) | undefined;
  /** Replaces the network, for the backends and the token endpoint. */
  readonly adapter?: AxiosAdapter;
  readonly random?: () => number;
  readonly meter?: Meter;
}

/** A few hundred bytes each. */
const cacheEntries = 50_000;

/** The three backends. Each has its own connections and circuit. */
export function createBackends(
  settings: Settings,
  log: LogLines,
  { adapter, random, secrets = [], amounts, meter = noMeter }: Further = {},
): Backends {
  const troubles = createTroubles(log, amounts);
  const tokens = tokenSource(settings, troubles, adapter);
  const countLookUp = meter.counter('device_messaging.cache.lookups');
  const types = createCache<TypeDefinition>(cacheEntries, (result) => countLookUp('types', result));
  const identities = createCache<Principal>(cacheEntries, (result) => countLookUp('identities', result));
  const cacheMs = settings.cacheSeconds * 1000;
  const redact = createRedaction([...secrets, settings.token, settings.clientSecret]);
  const common = { settings: backendSettings(settings), tokens, log, troubles, redact, adapter, random, meter };
  const backends = {
    informationModel: createBackend({
      ...common,
      backend: 'informationModel',
      url: settings.informationModelUrl,
      probe: probes.informationModel,
    }),
    typeRegistry: createBackend({
      ...common,
      backend: 'typeRegistry',
      url: settings.typeRegistryUrl,
      probe: probes.typeRegistry,
    }),
    principalManager: createBackend({
      ...common,
      backend: 'principalManager',
      url: settings.principalManagerUrl,
      probe: probes.principalManager,
    }),
  };
  const waitingFor = (name: BackendName) => backends[name].circuit.untilClosed();

  const isUp = (name: BackendName) => backends[name].circuit.state() === 'closed';

  function stateOf(name: BackendName, cacheEntries?: number): BackendState {
    const { circuit, connections } = backends[name];
    return { circuit: circuit.state(), outage: circuit.outage(), connections: connections(), cacheEntries };
  }

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
    states: () => ({
      informationModel: stateOf('informationModel'),
      typeRegistry: stateOf('typeRegistry', types.entries()),
      principalManager: stateOf('principalManager', identities.entries()),
    }),
    async close() {
      const { informationModel, typeRegistry, principalManager } = backends;
      await Promise.all([informationModel, typeRegistry, principalManager, tokens].map((one) => one.close()));
      troubles.close();
    },
  };
}
