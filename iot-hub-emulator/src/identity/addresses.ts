import type { HubPorts } from '../network/hubPorts.ts';
import { hostWithPort } from '../network/reach.ts';
import type { KeyName, Policy } from './policies.ts';
import { clientIdOf, type Registry } from './registry.ts';

/** What clients are given to find the hub and to prove who they are. All of these hold secrets. */
export interface Addresses {
  /** For `azure-iothub`, over TLS, with this policy: `iothubowner`, `service`, `device`, `registryRead` … */
  connectionString(policy: string, key?: KeyName): string;
  /** For `@azure/event-hubs`, in plain TCP, with this policy: `events` may only listen. Nobody may send. */
  eventHubConnectionString(policy: string, key?: KeyName): string;
  /** For the device clients, whatever their protocol; of a device, or a module of one. Throws when there is none. */
  deviceConnectionString(deviceId: string, moduleId?: string): string;
}

/** Ports to which clients go by themselves. They are left out: some clients build broken addresses from a host with a port. */
const usual = { amqp: 5672, amqps: 5671, mqtts: 8883 };

/** Addresses that follow the ports as they are opened. */
export function createAddresses(hub: {
  /** Of the event hub that is read at present. */
  eventHub: () => string;
  /** By which clients call it. */
  hostName: string;
  ports: Readonly<HubPorts>;
  policies: ReadonlyMap<string, Policy>;
  registry: Registry;
}): Addresses {
  const { eventHub, hostName, ports, policies, registry } = hub;
  const keyOf = (policy: string, key: KeyName = 'primaryKey'): string => {
    const found = policies.get(policy);
    if (!found) throw new Error(`The hub has no policy ${policy}.`);
    return `SharedAccessKeyName=${policy};SharedAccessKey=${found[key]}`;
  };
  const at = (host: string, port: keyof typeof usual): string =>
    hostWithPort(host, ports[port] === usual[port] ? undefined : ports[port]);
  const eventHost = hostName === 'localhost' ? '127.0.0.1' : hostName;
  return {
    connectionString: (policy, key) => `HostName=${at(hostName, 'amqps')};${keyOf(policy, key)}`,
    eventHubConnectionString: (policy, key) =>
      `Endpoint=sb://${at(eventHost, 'amqp')};${keyOf(policy, key)};EntityPath=${eventHub()};UseDevelopmentEmulator=true`,
    deviceConnectionString(deviceId, moduleId) {
      const identity = registry.get(clientIdOf(deviceId, moduleId));
      if (!identity) throw new Error('There is no device of this id.');
      const whom = moduleId === undefined ? deviceId : `${deviceId};ModuleId=${moduleId}`;
      const proof = identity.authentication.type === 'sas' ? `SharedAccessKey=${identity.primaryKey}` : 'x509=true';
      return `HostName=${at(hostName, 'mqtts')};DeviceId=${whom};${proof}`;
    },
  };
}
