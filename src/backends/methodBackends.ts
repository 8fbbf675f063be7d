import type { LogLines } from '../log/log.ts';
import { createTroubles } from '../log/troubles.ts';
import { type Meter, noMeter } from '../metrics/meter.ts';
import type { TypeRef } from '../protocol/fields.ts';
import { withoutHosts } from '../text/hostNames.ts';
import type { BackendState } from './backends.ts';
import { createCache } from './cache.ts';
import type { Call } from './call.ts';
import { serverOf } from './callSpan.ts';
import { backendSettings, type CommonSettings, probes, tokenSource } from './common.ts';
import { type Backend, createBackend } from './http.ts';
import { type Lineage, lineages, type TypeMethods } from './methodDeclarations.ts';
import { createObjectReader, type ReadObject } from './objectForCaller.ts';
import { createRedaction } from './redaction.ts';

/** The backend calls of the front door (M2). */
export interface MethodBackends {
  /** With the caller's token. */
  readonly readObject: ReadObject;
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
  const hosts = [settings.informationModelUrl, settings.typeRegistryUrl].map((url) => serverOf(url).address);
  const countLookUp = meter.counter('device_messaging.cache.lookups');
  const types = createCache<TypeMethods>(cacheEntries, (result) => countLookUp('types', result));
  const common = { settings: backendSettings(settings), tokens, log, troubles, redact, meter };
  const informationModel = createBackend({
    ...common,
    name: 'information model',
    url: settings.informationModelUrl,
    probe: probes.informationModel,
  });
  const typeRegistry = createBackend({
    ...common,
    name: 'type registry',
    url: settings.typeRegistryUrl,
    probe: probes.typeRegistry,
  });
  const { onceFor } = informationModel;
  const stateOf = ({ circuit, connections }: Backend, cacheEntries?: number): BackendState => ({
    circuit: circuit.state(),
    outage: circuit.outage(),
    connections: connections(),
    cacheEntries,
  });

  return {
    readObject: createObjectReader({ onceFor, redact, hideHosts: withoutHosts(hosts) }),
    lineageOf: (call, model, type) =>
      lineages(typeRegistry.bind(call), call, types, settings.cacheSeconds * 1000)(model, type),
    states: () => ({
      informationModel: stateOf(informationModel),
      typeRegistry: stateOf(typeRegistry, types.entries()),
    }),
    async close() {
      await Promise.all([informationModel, typeRegistry, tokens].map((one) => one.close()));
      troubles.close();
    },
  };
}
