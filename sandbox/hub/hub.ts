import type { Socket } from 'node:net';
import { createAdmin } from './admin.ts';
import { createDirectory } from './amqp/nodes.ts';
import { createAmqpServer } from './amqp/server.ts';
import { ensureCertificates } from './certificates.ts';
import { createCore, type HubRules } from './core.ts';
import { type Counters, countAll } from './counters.ts';
import type { Devicebound } from './devicebound.ts';
import { burst } from './faults/burst.ts';
import { createFaults, type Faults, turnedAway } from './faults/faults.ts';
import type { Journal } from './journal.ts';
import { type Listener, listen, listenWith } from './listener.ts';
import type { Methods } from './methods.ts';
import { createMqttServer } from './mqtt/server.ts';
import type { PartitionLog } from './partitionLog.ts';
import { openStore } from './persistence/store.ts';
import { ensurePolicies } from './policies.ts';
import { clientIdOf, type Registry } from './registry.ts';
import { createRestServer } from './rest/server.ts';
import { speakAny } from './sniff.ts';
import type { Twins } from './twins.ts';
import { acceptWebSockets } from './webSockets.ts';

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
  /** Rules other than IoT Hub's: of queues, feedback and throttling. */
  rules?: HubRules;
  /**
   * Directory to keep events, identities and cloud-to-device messages in, so that a later hub has them, even after kill
   * -9; by default they are in memory only. Nothing is accepted before the operating system has it.
   */
  persist?: string;
  /** Entries kept in the journal; default 10,000. */
  journalEntries?: number;
  /** The time in milliseconds since 1970: for stamps, expiry of tokens and of messages; default the system clock. */
  now?: () => number;
}

/**
 * AMQP in plain TCP and administration over HTTP; and with TLS AMQP, MQTT, REST and WebSockets. Each of the TLS ports
 * speaks all of these, so one is enough; they are several to have the numbers that clients take for granted.
 */
export interface HubPorts {
  amqp: number;
  amqps: number;
  mqtts: number;
  /** The same as `amqps` unless asked for. WebSocket clients go to 443, whatever one tells them. */
  https: number;
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
  /** Where REST requests go; the official clients need an `https.Agent` with this host and port. */
  restUrl: string;
  /** For `azure-iothub`, over TLS; policy `service`. */
  serviceConnectionString: string;
  /** For `azure-iothub`, over TLS, with another policy: `iothubowner`, `service`, `device`, `registryRead` … */
  connectionString(policy: string): string;
  /** For `@azure/event-hubs`, in plain TCP, with another policy: `iothubowner` may also send. */
  eventHubConnectionString(policy: string): string;
  /** For the device clients, whatever their protocol; of a device, or a module of one. Throws when there is none. */
  deviceConnectionString(deviceId: string, moduleId?: string): string;
  registry: Registry;
  partitions: readonly PartitionLog[];
  devicebound: Devicebound;
  methods: Methods;
  twins: Twins;
  journal: Journal;
  /** Misbehaviour on demand. */
  faults: Faults;
  counters(): Counters;
  isConnected(deviceId: string): boolean;
  /** Close all ports and connections. */
  close(): Promise<void>;
}

/** Start an IoT hub on the loopback interface. */
export async function startHub(options: HubOptions): Promise<Hub> {
  const { name = 'sandbox-hub', directory, partitions: count = 4, retention = 1_000_000, now = Date.now } = options;
  const [certificates, policies] = [await ensureCertificates(directory, now()), await ensurePolicies(directory)];
  const store = options.persist === undefined ? undefined : openStore(options.persist, count);
  const core = createCore({
    name,
    partitions: count,
    retention,
    consumerGroups: ['$Default', ...(options.consumerGroups ?? [])],
    policies,
    strictProperties: options.strictProperties ?? false,
    rules: options.rules ?? {},
    journalEntries: options.journalEntries ?? 10_000,
    store,
    now,
  });
  const { registry, access, presence, events, devicebound, journal, connections, tally, faults: standing } = core;
  const amqp = createAmqpServer(core, createDirectory(core));
  const mqtt = createMqttServer(core);
  const rest = createRestServer(core);
  acceptWebSockets(rest, { amqp: amqp.accept, mqtt: mqtt.accept });
  const speakers = {
    amqp: amqp.accept,
    mqtt: mqtt.accept,
    http: (socket: Socket) => void rest.emit('connection', socket),
  };
  for (const device of options.devices ?? []) settle(registry, device, store !== undefined);

  const keyOf = (policy: string): string => {
    const found = policies.get(policy);
    if (!found) throw new Error(`The hub has no policy ${policy}.`);
    return `SharedAccessKeyName=${policy};SharedAccessKey=${found.key}`;
  };
  const deviceConnectionString = (deviceId: string, moduleId?: string): string => {
    const identity = registry.get(clientIdOf(deviceId, moduleId));
    if (!identity) throw new Error('There is no device of this id.');
    const name = moduleId === undefined ? deviceId : `${deviceId};ModuleId=${moduleId}`;
    return `HostName=localhost:${ports.mqtts};DeviceId=${name};SharedAccessKey=${identity.primaryKey}`;
  };
  const connectionString = (policy: string) => `HostName=localhost:${ports.amqps};${keyOf(policy)}`;
  const eventHubConnectionString = (policy: string) =>
    `Endpoint=sb://127.0.0.1:${ports.amqp};${keyOf(policy)};EntityPath=${name};UseDevelopmentEmulator=true`;
  const describe = () => ({ name, hostName: 'localhost', ports, caFile: certificates.caFile, partitions: count });
  const open = new Map<keyof HubPorts, Listener>();
  const faults = createFaults({
    standing,
    connections,
    ports: open,
    burst: (fault) => burst(fault, { events, registry, access, now }),
  });
  const counters = () =>
    countAll({
      connections,
      partitions: events.partitions,
      tally,
      queues: registry.list().map(({ deviceId }) => [deviceId, devicebound.pending(deviceId).length]),
    });
  const admin = createAdmin({
    describe,
    faults,
    counters,
    registry,
    devicebound,
    journal,
    partitions: events.partitions,
    isConnected: presence.isConnected,
    deviceConnectionString,
  });

  const close = async (): Promise<void> => {
    amqp.close();
    mqtt.close();
    rest.closeIdleConnections();
    core.feedback.close();
    await Promise.all([...open.values()].map((listener) => listener.close()));
    store?.close();
  };
  const ports: HubPorts = { amqp: 0, amqps: 0, mqtts: 0, https: 0, admin: 0, ...options.ports };
  const opened = (name: keyof HubPorts, listener: Listener): void => {
    open.set(name, listener);
    ports[name] = listener.port;
  };
  const doorkeeper = (name: keyof HubPorts) => (socket: Socket) => turnedAway(standing, name, socket);
  try {
    opened('amqp', await listen(ports.amqp, undefined, amqp.accept, doorkeeper('amqp')));
    opened('amqps', await listen(ports.amqps, certificates, speakAny(speakers, 'amqp'), doorkeeper('amqps')));
    opened('mqtts', await listen(ports.mqtts, certificates, speakAny(speakers, 'mqtt'), doorkeeper('mqtts')));
    if (options.ports?.https === undefined) ports.https = ports.amqps;
    else opened('https', await listen(ports.https, certificates, speakAny(speakers, 'http'), doorkeeper('https')));
    opened('admin', await listenWith(admin, ports.admin));
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
    restUrl: `https://localhost:${ports.https}`,
    eventsConnectionString: eventHubConnectionString('events'),
    serviceConnectionString: connectionString('service'),
    connectionString,
    eventHubConnectionString,
    deviceConnectionString,
    registry,
    partitions: events.partitions,
    devicebound,
    methods: core.methods,
    twins: core.twins,
    journal,
    faults,
    counters,
    isConnected: presence.isConnected,
    close,
  };
}

/** Add a device; one that was stored stays, with the key that was asked for if there is one. */
function settle(registry: Registry, device: { deviceId: string; primaryKey?: string }, stored: boolean): void {
  const { deviceId, primaryKey } = device;
  const present = stored ? registry.get(deviceId) : undefined;
  if (!present) registry.create(deviceId, { primaryKey });
  else if (primaryKey !== undefined && primaryKey !== present.primaryKey) registry.update(deviceId, { primaryKey });
}
