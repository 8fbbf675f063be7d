import type { SecretList } from 'telemetry/secretList.ts';
import type { Access } from '../identity/access.ts';
import type { LogLines } from '../log/log.ts';
import { type Meter, noMeter } from '../metrics/meter.ts';
import type { TypeRef } from '../protocol/fields.ts';
import { type CommonSettings, createBackendOpener, type TokenEndpointState } from './backendOpener.ts';
import { cacheEntries, createCache } from './cache.ts';
import type { Call } from './call.ts';
import type { ReadingRoom } from './largeAnswer.ts';
import { type Lineage, lineages, type TypeMethods } from './methodDeclarations.ts';
import { createObjectReader, type ReadObject } from './objectForCaller.ts';
import type { BackendState } from './state.ts';

/** The backend calls of the front door (M2). */
export interface MethodBackends {
  /** With the caller's token. */
  readonly readObject: ReadObject;
  /** With the service's token, for the object's device; cached. */
  lineageOf(call: Call, model: string, type: TypeRef): Promise<Lineage>;
  /** For operators. */
  states(): Readonly<Record<'informationModel' | 'typeRegistry', BackendState>> & TokenEndpointState;
  close(): Promise<void>;
}

interface MethodBackendsSettings extends CommonSettings {
  readonly informationModelUrl: string;
  readonly typeRegistryUrl: string;
}

/** @param amounts for the log while something is wrong: how much is in progress */
export function createMethodBackends(
  settings: MethodBackendsSettings,
  log: LogLines,
  secrets: SecretList,
  amounts: () => object,
  meter: Meter = noMeter,
  access?: Pick<Access, 'backend' | 'token' | 'clientSecret'>,
  room?: ReadingRoom,
): MethodBackends {
  const { open, tokenEndpoint, close } = createBackendOpener(settings, log, {
    access,
    secrets,
    amounts,
    meter,
    ...(room && { room }),
  });
  const countLookUp = meter.counter('device_messaging.cache.lookups');
  const types = createCache<TypeMethods>(cacheEntries, (result) => countLookUp('types', result));
  const informationModel = open('informationModel', settings.informationModelUrl);
  const typeRegistry = open('typeRegistry', settings.typeRegistryUrl);
  const { onceFor } = informationModel;

  return {
    readObject: createObjectReader(onceFor),
    lineageOf: (call, model, type) =>
      lineages(typeRegistry.bind(call), call, types, settings.cacheSeconds * 1000)(model, type),
    states: () => ({
      informationModel: informationModel.state(),
      typeRegistry: { ...typeRegistry.state(), cacheEntries: types.entries() },
      ...tokenEndpoint(),
    }),
    close,
  };
}
