import type { Identity, Registry } from '../identity/registry.ts';
import type { TwinQuery } from './parse.ts';

/** The identities whose twins a query asks for, in the order of the registry. */
export function evaluate({ from }: TwinQuery, registry: Registry): Identity[] {
  const devices = registry.list();
  return from === 'devices' ? devices : devices.flatMap(({ deviceId }) => registry.modules(deviceId));
}
