import { randomBytes } from 'node:crypto';
import type { Backends } from './backends/backends.ts';
import type { Hub } from './hub/hub.ts';
import type { SandboxState } from './state.ts';

/** What others need of a hub, with the connection strings of these devices. */
export function describeHub(hub: Hub, deviceIds: readonly string[]): SandboxState['hub'] {
  return {
    name: hub.name,
    hostName: hub.hostName,
    ports: hub.ports,
    caFile: hub.caFile,
    adminUrl: hub.adminUrl,
    eventsConnectionString: hub.eventsConnectionString,
    serviceConnectionString: hub.serviceConnectionString,
    devices: Object.fromEntries(deviceIds.map((id) => [id, hub.deviceConnectionString(id)])),
    introductionSecret: randomBytes(32).toString('base64'),
  };
}

/** What others need of the backends. */
export function describeBackends({ token, ...backends }: Backends): SandboxState['backends'] {
  return {
    informationModelUrl: backends.informationModelUrl,
    typeRegistryUrl: backends.typeRegistryUrl,
    principalManagerUrl: backends.principalManagerUrl,
    adminUrl: backends.adminUrl,
    token: { url: token.url, clientId: token.clientId, clientSecret: token.clientSecret },
  };
}
