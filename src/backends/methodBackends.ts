import type { LogLines } from '../log/log.ts';
import { createTroubles } from '../log/troubles.ts';
import { type Meter, noMeter } from '../metrics/meter.ts';
import { createCalls } from '../observing/calls.ts';
import type { TypeRef } from '../protocol/fields.ts';
import { withoutHosts } from '../text/hostNames.ts';
import type { BackendState } from './backends.ts';
import { createCache } from './cache.ts';
import type { Call } from './call.ts';
import { backendSettings, type CommonSettings, probes, tokenSource } from './common.ts';
import { type Backend, createBackend } from './http.ts';
import { type Lineage, lineages, type TypeMethods } from './methodDeclarations.ts';
import { createObjectReader, type ObjectReader } from './objectForCaller.ts';
import { createRedaction } from './redaction.ts';
import { createTransport } from './transport.ts';

/** The backend calls of the front door (M2). */
export interface MethodBackends {
  /** With the caller's token. */
  readonly readObject: ObjectReader['readObject'];
  /** With the service's token, for the object's device; cached. */
  lineageOf(call: Call, model: string, type: TypeRef): Promise<Lineage>;
  /** For operators. */
  states(): Readonly<Record<'informationModel' | 'typeRegistry', BackendState>>;
  close(): Promise<void>;
}

interface MethodBackendsSettings extends CommonSettings {
  readonly informationModelUrl: string;
  readonly typeRegistryUrl: string;
}

/** Some KB each. */
const cacheEntries = 5_000;

/** @param amounts for the log while something is wrong: how much is in progress */
export function createMethodBackends(
  settings: MethodBackendsSettings,
  log: LogLines,
  secrets: readonly string[],
  amounts: () => object,
  meter: Meter = noMeter,
): MethodBackends {
  const troubles = createTroubles(log, amounts);
  const tokens = tokenSource(settings, troubles);
  const redact = createRedaction([...secrets, settings.token, settings.clientSecret]);
  const hosts = [settings.informationModelUrl, settings.typeRegistryUrl].map((url) => new URL(url).hostname);
  const countLookUp = meter.counter('device_messaging.cache.lookups');
  const types = createCache<TypeMethods>(cacheEntries, (result) => countLookUp('types', result));
  const shared = backendSettings(settings);
  const common = { settings: shared, tokens, log, troubles, redact, meter };
  // Only for its circuit and its probe; the requests use the callers' tokens.
  const informationModel = createBackend({
    ...common,
    backend: 'informationModel',
    url: settings.informationModelUrl,
    probe: probes.informationModel,
  });
  const typeRegistry = createBackend({
    ...common,
    backend: 'typeRegistry',
    url: settings.typeRegistryUrl,
    probe: probes.typeRegistry,
  });
  const transport = createTransport(settings.informationModelUrl, shared);

  const objects = createObjectReader({
    ...shared,
    adapter: transport.adapter,
    circuit: informationModel.circuit,
    redact,
    hideHosts: withoutHosts(hosts),
    calls: createCalls('informationModel', settings.informationModelUrl, meter),
  });
  const stateOf = ({ circuit }: Pick<Backend, 'circuit'>) => ({ circuit: circuit.state(), outage: circuit.outage() });

  return {
    readObject: objects.readObject,
    lineageOf: (call, model, type) =>
      lineages(typeRegistry.bind(call), call, types, settings.cacheSeconds * 1000)(model, type),
    states: () => ({
      informationModel: {
        ...stateOf(informationModel),
        ...{ connections: objects.connections(), cacheEntries: undefined },
      },
      typeRegistry: {
        ...stateOf(typeRegistry),
        ...{ connections: typeRegistry.connections(), cacheEntries: types.entries() },
      },
    }),
    async close() {
      await Promise.all([informationModel, typeRegistry, tokens, transport].map((one) => one.close()));
      troubles.close();
    },
  };
}
