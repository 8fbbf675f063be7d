import type { AxiosAdapter } from 'axios';
import type { LogLines } from '../log.ts';
import type { TypeRef } from '../protocol/fields.ts';
import { createTroubles } from '../troubles.ts';
import { createCache } from './cache.ts';
import type { Call } from './call.ts';
import { type CallersModel, createCallersModel } from './callersModel.ts';
import { backendSettings, type CommonSettings, probes, tokenSource } from './common.ts';
import { createBackend } from './http.ts';
import { type Declaration, type MethodsOfType, methodsOfTypes } from './methodsOfType.ts';
import { createRedaction } from './redaction.ts';
import { createTransport } from './transport.ts';

/** The backends as the front door needs them (M2). */
export interface MethodBackends {
  /** With the caller's token. */
  readonly readObject: CallersModel;
  /** With the service's token, for the object's device; remembered. */
  declarationOf(call: Call, model: string, type: TypeRef, method: string): Promise<Declaration | undefined>;
  close(): Promise<void>;
}

interface Settings extends CommonSettings {
  readonly informationModelUrl: string;
  readonly typeRegistryUrl: string;
}

/** Some KB each. */
const cacheEntries = 5_000;

export function createMethodBackends(
  settings: Settings,
  log: LogLines,
  secrets: readonly string[],
  adapter?: AxiosAdapter,
): MethodBackends {
  const troubles = createTroubles(log);
  const tokens = tokenSource(settings, troubles, adapter);
  const redact = createRedaction([...secrets, settings.token, settings.clientSecret]);
  const types = createCache<MethodsOfType>(cacheEntries);
  const shared = backendSettings(settings);
  const common = { settings: shared, tokens, log, troubles, redact, adapter };
  // Its circuit and its probes are the service's own; all else is asked by callers.
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
  const transport = adapter
    ? { adapter, close: async () => {} }
    : createTransport(settings.informationModelUrl, shared);

  return {
    readObject: createCallersModel({
      ...shared,
      adapter: transport.adapter,
      circuit: informationModel.circuit,
      redact,
    }),
    declarationOf: (call, model, type, method) =>
      methodsOfTypes(typeRegistry.bind(call), call, types, settings.cacheSeconds * 1000)(model, type, method),
    async close() {
      await Promise.all([informationModel, typeRegistry, tokens, transport].map((one) => one.close()));
      troubles.close();
    },
  };
}
