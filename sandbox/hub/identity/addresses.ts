import type { HubPorts } from '../network/hubPorts.ts';
import type { Policy } from './policies.ts';
import { clientIdOf, type Registry } from './registry.ts';

/** What clients are given to find the hub and to prove who they are. All of these hold secrets. */
export interface Addresses {
  /** For `azure-iothub`, over TLS, with this policy: `iothubowner`, `service`, `device`, `registryRead` … */
  connectionString(policy: string): string;
  /** For `@azure/event-hubs`, in plain TCP, with this policy: `events` may only listen. Nobody may send. */
  eventHubConnectionString(policy: string): string;
  /** For the device clients, whatever their protocol; of a device, or a module of one. Throws when there is none. */
  deviceConnectionString(deviceId: string, moduleId?: string): string;
}

/** Addresses that follow the ports as they are opened. */
export function createAddresses(hub: {
  name: string;
  ports: Readonly<HubPorts>;
  policies: ReadonlyMap<string, Policy>;
  registry: Registry;
}): Addresses {
  const { name, ports, policies, registry } = hub;
  const keyOf = (policy: string): string => {
    const found = policies.get(policy);
    if (!found) throw new Error(`The hub has no policy ${policy}.`);
    return `SharedAccessKeyName=${policy};SharedAccessKey=${found.key}`;
  };
  return {
    connectionString: (policy) => `HostName=localhost:${ports.amqps};${keyOf(policy)}`,
    eventHubConnectionString: (policy) =>
      `Endpoint=sb://127.0.0.1:${ports.amqp};${keyOf(policy)};EntityPath=${name};UseDevelopmentEmulator=true`,
    deviceConnectionString(deviceId, moduleId) {
      const identity = registry.get(clientIdOf(deviceId, moduleId));
      if (!identity) throw new Error('There is no device of this id.');
      const whom = moduleId === undefined ? deviceId : `${deviceId};ModuleId=${moduleId}`;
      return `HostName=localhost:${ports.mqtts};DeviceId=${whom};SharedAccessKey=${identity.primaryKey}`;
    },
  };
}
