import { randomBytes } from 'node:crypto';
import type { Hub } from 'iot-hub-emulator';
import type { Backends } from './backends/backends.ts';
import type { SandboxState } from './state/state.ts';

/** What others need of a hub, with the connection strings of these devices. */
export function describeHub(hub: Hub, deviceIds: readonly string[]): SandboxState['hub'] {
  const { name, hostName, ports, caFile, adminUrl, eventsConnectionString, serviceConnectionString } = hub;
  return {
    ...{ name, hostName, ports, caFile, adminUrl, eventsConnectionString, serviceConnectionString },
    ownerConnectionString: hub.connectionString('iothubowner'),
    devices: Object.fromEntries(deviceIds.map((id) => [id, hub.deviceConnectionString(id)])),
    deviceKeySecret: randomBytes(32).toString('base64'),
  };
}

/** What others need of the backends. */
export function describeBackends(backends: Backends): SandboxState['backends'] {
  const { informationModelUrl, typeRegistryUrl, principalManagerUrl, adminUrl } = backends;
  const { url, clientId, clientSecret } = backends.token;
  return {
    informationModelUrl,
    typeRegistryUrl,
    principalManagerUrl,
    adminUrl,
    token: { url, clientId, clientSecret },
  };
}
