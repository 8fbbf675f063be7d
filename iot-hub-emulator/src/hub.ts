import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { createAdmin } from './admin/adminServer.ts';
import { ensureAdminToken } from './admin/adminToken.ts';
import { createAmqpServer } from './amqp/amqpServer.ts';
import { createDirectory } from './amqp/nodes.ts';
import { checkOptions } from './checkOptions.ts';
import type { Devicebound } from './cloudToDevice/deviceQueues.ts';
import { faultsOtherwise, rulesOtherwise } from './core/contraryRules.ts';
import { createCore, type HubRules } from './core/core.ts';
import { type Counters, countAll } from './core/counters.ts';
import type { Enrichment } from './enrichments/enrichments.ts';
import type { PartitionLog } from './events/partitionLog.ts';
import { burst } from './faults/burst.ts';
import { createFaults, type Faults, interceptedByFault } from './faults/faults.ts';
import { type Addresses, createAddresses } from './identity/addresses.ts';
import type { Authentication } from './identity/authentication.ts';
import type { TrustedAuthority } from './identity/bearer.ts';
import type { CaCertificates } from './identity/caCertificates.ts';
import { ensureCertificates } from './identity/certificates.ts';
import { developmentHub } from './identity/developmentHub.ts';
import { claimByPassword } from './identity/plain.ts';
import { ensurePolicies, type KeyName } from './identity/policies.ts';
import type { Registry } from './identity/registry.ts';
import { createJournal, type Journal } from './journal/journal.ts';
import { bounds } from './limits/bounds.ts';
import type { Methods } from './methods/methods.ts';
import { createMqttServer } from './mqtt/mqttServer.ts';
import type { HubPorts } from './network/hubPorts.ts';
import type { Listener } from './network/listener.ts';
import { openPorts } from './network/ports.ts';
import { hostWithPort, localAddress, reachOf } from './network/reach.ts';
import { acceptWebSockets } from './network/webSockets.ts';
import type { NotificationSource } from './notifications/hubNotification.ts';
import { sendNotifications } from './notifications/sendNotifications.ts';
import type { Way } from './otherwise/ways.ts';
import { openStore } from './persistence/store.ts';
import { createRestServer } from './rest/restServer.ts';
import type { Twins } from './twins/twins.ts';
import type { FileStorage } from './uploads/storageAccount.ts';
import { workingDirectory } from './values/workingDirectory.ts';

/** A device that is there from the start: with keys, unless it proves otherwise who it is. */
interface NewDevice {
  readonly deviceId: string;
  readonly primaryKey?: string;
  readonly authentication?: Authentication;
}

/** How to start a hub; nothing of it is needed. */
export interface HubOptions {
  /** Name of the hub and of its event hub; default `sandbox-hub`. */
  name?: string;
  /** IP address to listen on, `0.0.0.0` and `::` for all of the machine; default the loopback interface. */
  host?: string;
  /**
   * Names and addresses by which clients call it besides those of the loopback interface. Its certificate has them; if it listens
   * beyond loopback, its connection strings have the first.
   */
  hostNames?: readonly string[];
  /** The same as `host` for the admin port, which then asks for a token. */
  adminHost?: string;
  /** That token; default one that is made at the first start and kept in `directory`. */
  adminToken?: string;
  /** The hub that everybody knows: name, keys and two devices are published (H30). Nothing of it is a secret; default false. */
  development?: boolean;
  /**
   * Where the certificate authority and all keys are kept; they are made at the first start. Default a temporary directory, which
   * goes when the hub is closed.
   */
  directory?: string;
  /** Number of partitions; default 4. */
  partitions?: number;
  /** Consumer groups besides `$Default`. */
  consumerGroups?: readonly string[];
  /** Ports to listen on; 0 or absent: a free one. */
  ports?: Partial<HubPorts>;
  /** Devices that are there from the start. */
  devices?: readonly NewDevice[];
  /** Refuse cloud-to-device properties with characters that IoT Hub does not document as allowed; default false. */
  strictProperties?: boolean;
  /** The policy `iothubowner` may send to the event endpoint, which IoT Hub allows to nobody; default false. */
  ownerMaySend?: boolean;
  /** Whose tokens it believes besides shared access signatures, and what their principals may do; default nobody's. */
  authority?: TrustedAuthority;
  /**
   * A plain route: what devices send goes to a second event hub of this name, at the same ports, and not to the built-in
   * endpoint. Only identities of the authority have rights there; it is kept in memory only. Default none.
   */
  routeTo?: { readonly name: string; readonly partitions?: number };
  /** Properties that the hub adds to what devices send, ten at most; default none. */
  enrichments?: readonly Enrichment[];
  /** Where devices upload files; default nowhere. */
  fileStorage?: FileStorage;
  /** Events of the hub's own that come beside those of devices, as if routes sent them to the event endpoint; default none. */
  sources?: readonly NotificationSource[];
  /** Facts of IoT Hub that are only believed, and of which this hub has the contrary (H24); default none. */
  otherwise?: readonly Way[];
  /** Rules other than IoT Hub's: of queues, feedback, throttling and how much is kept. */
  rules?: HubRules;
  /**
   * Directory to keep events, identities and cloud-to-device messages in, so that a later hub has them, even after kill
   * -9; by default they are in memory only. Nothing is accepted before the operating system has it.
   */
  persist?: string;
  /** The journal that records what happens; default one of its own, in memory. */
  journal?: Journal;
  /** The time in milliseconds since 1970: for stamps, expiry of tokens and of messages; default the system clock. */
  now?: () => number;
}

/** A running hub. `await using` closes it at the end of a block. */
export interface Hub extends Addresses, AsyncDisposable {
  name: string;
  /** Where its certificate authority and its keys are. */
  directory: string;
  /** By which clients call it. */
  hostName: string;
  ports: HubPorts;
  /** PEM file that clients must trust. */
  caFile: string;
  /** For programs of this machine. */
  adminUrl: string;
  /** What the admin port asks for, if it is open to other machines. */
  adminToken: string | undefined;
  /** The event endpoint at present: another one after a failover. */
  endpoint(): { readonly name: string; readonly partitions: readonly PartitionLog[] };
  /** For `@azure/event-hubs`, in plain TCP; policy `events`, which may only listen; of the event endpoint at the start. */
  eventsConnectionString: string;
  /** Where REST requests go; the official clients need an `https.Agent` with this host and port. */
  restUrl: string;
  /** For `azure-iothub`, over TLS; policy `service`. */
  serviceConnectionString: string;
  registry: Registry;
  /** The CA certificates by which devices get in, as the hub's owner manages them. */
  certificates: CaCertificates;
  /** Of the event endpoint at the start. */
  partitions: readonly PartitionLog[];
  /** Of the event hub that a route leads to; none without one. */
  routedPartitions: readonly PartitionLog[];
  devicebound: Devicebound;
  methods: Methods;
  twins: Twins;
  journal: Journal;
  /** Misbehaviour on demand. */
  faults: Faults;
  counters(): Counters;
  /**
   * Give a policy another key in the place of one of its two, the first unless said, as an owner regenerates it. Links go on
   * until the tokens expire that clients have put for them; new tokens need a key that it has, as new connection strings do.
   */
  renewKey(policy: string, which?: KeyName): Promise<void>;
  isConnected(deviceId: string): boolean;
  /** Close all ports and connections, and remove a temporary directory. Again, it is the same as once. */
  close(): Promise<void>;
}

/** Start an IoT hub, on the loopback interface unless asked otherwise. Throws when an option is wrong, or a port or the directory cannot be used. */
export async function startHub(options: HubOptions = {}): Promise<Hub> {
  checkOptions(options);
  const { directory, remove } = await workingDirectory(options.directory);
  try {
    const hub = await openHub({ ...options, directory });
    let closing: Promise<void> | undefined;
    const close = (): Promise<void> => {
      closing ??= hub.close().then(remove);
      return closing;
    };
    return { ...hub, directory, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A hub that leaves its directory alone. */
async function openHub(
  options: HubOptions & { directory: string },
): Promise<Omit<Hub, 'directory' | typeof Symbol.asyncDispose>> {
  const known = options.development ? developmentHub : undefined;
  const { name = known?.name ?? 'sandbox-hub', directory, partitions: count = 4, now = Date.now } = options;
  const reach = reachOf({ ...options, hostNames: options.hostNames ?? (known ? [known.name] : []) });
  const { hostName } = reach;
  const tls = await ensureCertificates(directory, now(), reach.names);
  const { all: policies, renewKey } = await ensurePolicies(directory, options.ownerMaySend, known?.keys);
  const adminToken = reach.isAdminOpen
    ? (options.adminToken ?? known?.adminToken ?? (await ensureAdminToken(directory)))
    : undefined;
  const otherwise = new Set(options.otherwise ?? []);
  const store = options.persist === undefined ? undefined : openStore(options.persist, count);
  const core = createCore({
    name,
    hostNames: reach.names,
    partitions: count,
    consumerGroups: ['$Default', ...(options.consumerGroups ?? [])],
    policies,
    authority: options.authority,
    routeTo: options.routeTo,
    fileStorage: options.fileStorage,
    enrichments: options.enrichments,
    strictProperties: options.strictProperties ?? false,
    otherwise,
    rules: rulesOtherwise(options.rules ?? {}, otherwise),
    journal: options.journal ?? createJournal({ bytes: options.rules?.bounds?.journal ?? bounds.journal, now }),
    store,
    now,
  });
  const {
    registry,
    access,
    presence,
    events,
    regions,
    devicebound,
    twins,
    journal,
    connections,
    deliveryCounters: tally,
    faults: standing,
  } = core;
  const ports: HubPorts = { amqp: 0, amqps: 0, mqtts: 0, https: 0, admin: 0 };
  const login = (username: string, password: string) => claimByPassword(username, password, { access, policies });
  const amqp = createAmqpServer(core, createDirectory(core, hostName, ports), login);
  const mqtt = createMqttServer(core);
  const rest = createRestServer(core);
  acceptWebSockets(rest, { amqp: amqp.accept, mqtt: mqtt.accept }, core.bounds.webSocketMessage);
  const stopNotifications = sendNotifications(core, options.sources ?? []);
  for (const device of [...(known?.devices() ?? []), ...(options.devices ?? [])])
    addDevice(registry, device, store !== undefined);

  const addresses = createAddresses({ eventHub: () => regions.active().name, hostName, ports, policies, registry });
  const describe = () => ({
    name,
    eventHub: regions.active().name,
    hostName,
    ports,
    caFile: tls.caFile,
    ca: tls.ca,
    partitions: count,
  });
  const open = new Map<keyof HubPorts, Listener>();
  const faults = createFaults({
    standing,
    connections,
    ports: open,
    failOver({ left = 'closed' }) {
      regions.failOver(left);
      devicebound.lose();
      core.feedback.lose();
    },
    burst: (fault) => burst(fault, { events, registry, access }),
  });
  for (const fault of faultsOtherwise(otherwise)) faults.add(fault);
  const counters = () =>
    countAll({
      connections,
      partitions: regions.all.flatMap((region) => region.events.partitions),
      deliveryCounters: tally,
      queues: registry.list().map(({ deviceId }) => [deviceId, devicebound.pending(deviceId).length]),
    });
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // every stream listens
  const admin = createAdmin({
    describe,
    faults,
    counters,
    registry,
    certificates: core.certificates,
    devicebound,
    twins,
    journal,
    partitions: () => events.partitions,
    isConnected: presence.isConnected,
    connections: connections.list,
    addresses,
    renewKey,
    hostNames: reach.names,
    token: adminToken,
    headersMs: core.idle.beginning,
    closing: closing.signal,
  });

  const close = async (): Promise<void> => {
    closing.abort();
    stopNotifications();
    amqp.close();
    mqtt.close();
    rest.close();
    core.feedback.close();
    core.uploads?.notifications.close();
    core.jobs.close();
    core.configurations.close();
    devicebound.close();
    core.throttle.close();
    await Promise.all([...open.values()].map((listener) => listener.close()));
    store?.close();
  };
  try {
    const servers = { amqp, mqtt, rest, admin };
    const intercept = (port: keyof HubPorts, socket: Socket) => interceptedByFault(standing, port, socket);
    await openPorts({
      ...{ wanted: options.ports ?? {}, reach, ports, open, tls, servers, intercept },
      beginningMs: core.idle.beginning,
    });
  } catch (error) {
    await close();
    throw error;
  }

  return {
    name,
    hostName,
    ports,
    caFile: tls.caFile,
    adminUrl: `http://${hostWithPort(localAddress(reach.adminHost), ports.admin)}`,
    adminToken,
    restUrl: `https://${hostWithPort(hostName, ports.https)}`,
    endpoint: () => ({ name: regions.active().name, partitions: events.partitions }),
    eventsConnectionString: addresses.eventHubConnectionString('events'),
    serviceConnectionString: addresses.connectionString('service'),
    ...addresses,
    registry,
    certificates: core.certificates,
    partitions: events.partitions,
    routedPartitions: core.routed?.events.partitions ?? [],
    devicebound,
    methods: core.methods,
    twins: core.twins,
    journal,
    faults,
    counters,
    renewKey,
    isConnected: presence.isConnected,
    close,
  };
}

/** Add a device; one that was stored stays, with the key and the authentication that were asked for if there are. */
function addDevice(registry: Registry, { deviceId, ...asked }: NewDevice, stored: boolean): void {
  const present = stored ? registry.get(deviceId) : undefined;
  const { primaryKey = present?.primaryKey, authentication = present?.authentication } = asked;
  const settings = { primaryKey, authentication };
  if (!present) registry.create(deviceId, settings);
  else if (!isDeepStrictEqual(settings, { primaryKey: present.primaryKey, authentication: present.authentication }))
    registry.update(deviceId, settings);
}
