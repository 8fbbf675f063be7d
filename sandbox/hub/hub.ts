import { createAccess } from './access.ts';
import { createAdmin } from './admin.ts';
import { createDirectory } from './amqp/nodes.ts';
import { createAmqpServer } from './amqp/server.ts';
import { ensureCertificates } from './certificates.ts';
import { createConnections } from './connections.ts';
import { createDevicebound, type Devicebound } from './devicebound.ts';
import { createEvents } from './events.ts';
import { createStandingFaults } from './faults/standing.ts';
import { createJournal, type Journal } from './journal.ts';
import { type Listener, listen, listenWith } from './listener.ts';
import { createMqttServer } from './mqtt/server.ts';
import type { PartitionLog } from './partitionLog.ts';
import { ensurePolicies } from './policies.ts';
import { createRegistry, type Registry } from './registry.ts';
import { createTally } from './tally.ts';

/** How to start a hub. Only `directory` is needed. */
export interface HubOptions {
  /** Name of the hub and of its event hub; default `sandbox-hub`. */
  name?: string;
  /** Where the certificate authority and all keys are kept; they are made at the first start. */
  directory: string;
  /** Number of partitions; default 4. */
  partitions?: number;
  /** Events kept in each partition; default 1,000,000. */
  retention?: number;
  /** Consumer groups besides `$Default`. */
  consumerGroups?: readonly string[];
  /** Ports to listen on; 0 or absent: a free one. */
  ports?: Partial<HubPorts>;
  /** Devices that are there from the start. */
  devices?: readonly { deviceId: string; primaryKey?: string }[];
  /** Refuse cloud-to-device properties with characters that IoT Hub does not document as allowed; default false. */
  strictProperties?: boolean;
  /** Entries kept in the journal; default 10,000. */
  journalEntries?: number;
  /** The time in milliseconds since 1970: for stamps, expiry of tokens and of messages; default the system clock. */
  now?: () => number;
}

/** AMQP in plain TCP, AMQP over TLS, MQTT over TLS, administration over HTTP. */
export interface HubPorts {
  amqp: number;
  amqps: number;
  mqtts: number;
  admin: number;
}

/** A running hub. */
export interface Hub {
  name: string;
  hostName: 'localhost';
  ports: HubPorts;
  /** PEM file that clients must trust. */
  caFile: string;
  adminUrl: string;
  /** For `@azure/event-hubs`, in plain TCP; policy `events`, which may only listen. */
  eventsConnectionString: string;
  /** For `azure-iothub`, over TLS; policy `service`. */
  serviceConnectionString: string;
  /** For `azure-iothub`, over TLS, with another policy: `iothubowner`, `service`, `device`, `registryRead` … */
  connectionString(policy: string): string;
  /** For `@azure/event-hubs`, in plain TCP, with another policy: `iothubowner` may also send. */
  eventHubConnectionString(policy: string): string;
  /** For `azure-iot-device-mqtt`. Throws when there is no such device. */
  deviceConnectionString(deviceId: string): string;
  registry: Registry;
  partitions: readonly PartitionLog[];
  devicebound: Devicebound;
  journal: Journal;
  isConnected(deviceId: string): boolean;
  /** Close all ports and connections. */
  close(): Promise<void>;
}

/** Start an IoT hub on the loopback interface. */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { name = 'sandbox-hub', directory, partitions: count = 4, retention = 1_000_000, now = Date.now } = options;
  const [certificates, policies] = [await ensureCertificates(directory, now()), await ensurePolicies(directory)];
  const registry = createRegistry(now);
  const journal = createJournal(now, options.journalEntries ?? 10_000);
  const everybody = createConnections();
  const standing = createStandingFaults();
  const tally = createTally();
  const access = createAccess({ hubName: name, policies, registry, now });
  const events = createEvents({ count, retention, journal, now });
  const devicebound = createDevicebound({ registry, journal, strict: options.strictProperties ?? false, now });
  const consumerGroups = ['$Default', ...(options.consumerGroups ?? [])];
  const amqp = createAmqpServer({
    containerId: name,
    directory: createDirectory({
      name,
      consumerGroups,
      access,
      events,
      devicebound,
      journal,
      faults: standing,
      tally,
      now,
    }),
    connections: everybody,
    faults: standing,
    now,
  });
  const mqtt = createMqttServer({ access, events, devicebound, journal, registry, faults: standing, everybody, now });
  for (const { deviceId, primaryKey } of options.devices ?? []) registry.create(deviceId, { primaryKey });

  const keyOf = (policy: string): string => {
    const found = policies.get(policy);
    if (!found) throw new Error(`The hub has no policy ${policy}.`);
    return `SharedAccessKeyName=${policy};SharedAccessKey=${found.key}`;
  };
  const deviceConnectionString = (deviceId: string): string => {
    const device = registry.get(deviceId);
    if (!device) throw new Error('There is no device of this id.');
    return `HostName=localhost:${ports.mqtts};DeviceId=${deviceId};SharedAccessKey=${device.primaryKey}`;
  };
  const connectionString = (policy: string) => `HostName=localhost:${ports.amqps};${keyOf(policy)}`;
  const eventHubConnectionString = (policy: string) =>
    `Endpoint=sb://127.0.0.1:${ports.amqp};${keyOf(policy)};EntityPath=${name};UseDevelopmentEmulator=true`;
  const describe = () => ({ name, hostName: 'localhost', ports, caFile: certificates.caFile, partitions: count });
  const admin = createAdmin({
    describe,
    registry,
    devicebound,
    journal,
    partitions: events.partitions,
    isConnected: mqtt.isConnected,
    deviceConnectionString,
  });

  const open: Listener[] = [];
  const close = async (): Promise<void> => {
    amqp.close();
    mqtt.close();
    await Promise.all(open.map((listener) => listener.close()));
  };
  const listening = async (opening: Promise<Listener>): Promise<number> => {
    const listener = await opening;
    open.push(listener);
    return listener.port;
  };
  const ports: HubPorts = { amqp: 0, amqps: 0, mqtts: 0, admin: 0 };
  const { amqp: amqpPort = 0, amqps: amqpsPort = 0, mqtts: mqttsPort = 0, admin: adminPort = 0 } = options.ports ?? {};
  try {
    ports.amqp = await listening(listen(amqpPort, undefined, amqp.accept));
    ports.amqps = await listening(listen(amqpsPort, certificates, amqp.accept));
    ports.mqtts = await listening(listen(mqttsPort, certificates, mqtt.accept));
    ports.admin = await listening(listenWith(admin, adminPort));
  } catch (error) {
    await close();
    throw error;
  }

  return {
    name,
    hostName: 'localhost',
    ports,
    caFile: certificates.caFile,
    adminUrl: `http://127.0.0.1:${ports.admin}`,
    eventsConnectionString: eventHubConnectionString('events'),
    serviceConnectionString: connectionString('service'),
    connectionString,
    eventHubConnectionString,
    deviceConnectionString,
    registry,
    partitions: events.partitions,
    devicebound,
    journal,
    isConnected: mqtt.isConnected,
    close,
  };
}
