import {
  createDevicebound,
  type Devicebound,
  type DeviceboundRules,
  limits as queueLimits,
} from '../cloudToDevice/deviceQueues.ts';
import {
  createFeedback,
  type Feedback,
  type FeedbackRules,
  feedbackRules,
  type StoredFeedback,
} from '../cloudToDevice/feedback.ts';
import type { StoredMessage } from '../cloudToDevice/queued.ts';
import { type Configurations, createConfigurations } from '../configurations/configurations.ts';
import { createEnrich, type Enrichment } from '../enrichments/enrichments.ts';
import { createDeliveryCounters, type DeliveryCounters } from '../events/deliveryCounters.ts';
import { createEventForm } from '../events/eventForm.ts';
import { createEvents, type Events } from '../events/events.ts';
import { createNumbering, type Numbering } from '../events/numbering.ts';
import { createRegions, type EventHub, eventsOf, type Regions } from '../events/regions.ts';
import { createStandingFaults, type StandingFaults } from '../faults/standing.ts';
import { type Access, createAccess } from '../identity/access.ts';
import type { TrustedAuthority } from '../identity/bearer.ts';
import { type CaCertificates, createCaCertificates, type StoredCaCertificate } from '../identity/caCertificates.ts';
import type { Policy } from '../identity/policies.ts';
import { createPresence, type Presence } from '../identity/presence.ts';
import { createRegistry, type Identity, type Registry } from '../identity/registry.ts';
import { createJobs, type Jobs } from '../jobs/jobs.ts';
import type { Journal } from '../journal/journal.ts';
import { type Bounds, bounds } from '../limits/bounds.ts';
import { type IdleRules, idleRules } from '../limits/idle.ts';
import { createThrottle, type Throttle } from '../limits/throttle.ts';
import { limitsOfRates, type Rates, type Tier, tierLimits } from '../limits/tiers.ts';
import { createMethods, type Methods } from '../methods/methods.ts';
import { type Connections, createConnections } from '../network/connections.ts';
import type { Ways } from '../otherwise/ways.ts';
import type { Store } from '../persistence/store.ts';
import type { Table } from '../persistence/table.ts';
import { createModels, type Models } from '../twins/models.ts';
import { createTwins, type StoredTwin, type Twins } from '../twins/twins.ts';
import type { FileStorage } from '../uploads/storageAccount.ts';
import { createUploads, type Uploads } from '../uploads/uploads.ts';

/** What a hub knows and does, whatever protocol it is asked in. */
export interface HubCore {
  name: string;
  /** In milliseconds since 1970; with a store, of the first hub that had it. */
  createdAt: number;
  consumerGroups: readonly string[];
  registry: Registry;
  certificates: CaCertificates;
  access: Access;
  presence: Presence;
  /** The built-in endpoint. What devices send goes on to the event hub of a route, if there is one, and only there. */
  events: Events;
  /** The built-in endpoint in each region. */
  regions: Regions;
  /** It is in memory only (H5). */
  routed: EventHub | undefined;
  devicebound: Devicebound;
  feedback: Feedback;
  /** None without a storage account. */
  uploads: Uploads | undefined;
  methods: Methods;
  twins: Twins;
  jobs: Jobs;
  configurations: Configurations;
  models: Models;
  throttle: Throttle;
  journal: Journal;
  deliveryCounters: DeliveryCounters;
  /** The connections of all protocols. */
  connections: Connections;
  faults: StandingFaults;
  /** How much it keeps. */
  bounds: Bounds;
  /** When it ends idle connections and links. */
  idle: IdleRules;
  /** In what it differs from the hub that is known. */
  otherwise: Ways;
  numbering: Numbering;
  now: () => number;
}

/** The rules of a hub that can be other than IoT Hub's. */
export interface HubRules {
  /** How much it keeps. */
  bounds?: Partial<Bounds> | undefined;
  /** When it ends idle connections and links. */
  idle?: Partial<IdleRules> | undefined;
  /** Of the cloud-to-device queues. */
  devicebound?: Partial<DeviceboundRules>;
  /** Of the feedback about cloud-to-device messages. */
  feedback?: Partial<FeedbackRules>;
  /** Throttle as a hub of this tier does; not at all when absent. */
  tier?: Tier | undefined;
  /** Units of the tier; default 1. */
  units?: number | undefined;
  /** Most method calls of one device or module under way at once; Azure has such a limit, but does not say which. */
  methodsAtOnce?: number | undefined;
  /** Rates of single operations, in operations a second, instead of the tier's. */
  rates?: Rates | undefined;
  /**
   * How long messages to and from devices over the rate are held back, and answered late, before they are refused; refused
   * at once when absent.
   */
  shapingMs?: number | undefined;
  /** Most messages of either direction held back; by default as many as pass in that time. */
  shapingBacklog?: number | undefined;
}

/** The parts of a hub, with no port open. */
export function createCore(options: {
  name: string;
  /** By which clients call it. */
  hostNames: readonly string[];
  partitions: number;
  consumerGroups: readonly string[];
  policies: ReadonlyMap<string, Policy>;
  authority?: TrustedAuthority | undefined;
  routeTo?: { readonly name: string; readonly partitions?: number } | undefined;
  fileStorage?: FileStorage | undefined;
  enrichments?: readonly Enrichment[] | undefined;
  strictProperties: boolean;
  otherwise: Ways;
  rules: HubRules;
  journal: Journal;
  /** Where it keeps what outlives the process; absent: nowhere. */
  store?: Store | undefined;
  now: () => number;
}): HubCore {
  const {
    name,
    partitions,
    policies,
    authority,
    routeTo,
    fileStorage,
    strictProperties,
    otherwise,
    rules,
    journal,
    store,
    now,
  } = options;
  const { tier, units, rates = {}, shapingMs, shapingBacklog } = rules;
  const limits = { ...(tier ? tierLimits(tier, units) : {}), ...limitsOfRates(rates) };
  const bounded = { ...bounds, ...rules.bounds };
  const registry = createRegistry(now);
  if (store) persistRegistry(registry, store);
  const certificates = createCaCertificates(now, store?.table<StoredCaCertificate>('certificates'));
  const feedback = createFeedback({
    rules: { ...feedbackRules, ...rules.feedback },
    bytes: bounded.feedback,
    now,
    table: store?.table<StoredFeedback>('feedback'),
  });
  const twins = createTwins(registry, now, store?.table<StoredTwin>('twins'));
  const enrich = createEnrich(options.enrichments ?? [], name, twins);
  const numbering = createNumbering(otherwise);
  const form = createEventForm(otherwise, numbering);
  const common = { retention: bounded.partition, journal, numbering, enrich, form, now };
  const about = store?.table<string | number>('hub');
  const regions = createRegions(
    { name, events: createEvents({ count: partitions, store, ...common }) },
    {
      name: `${name}-secondary`,
      events: createEvents({ count: partitions, store: store?.secondary, ...common }),
    },
    stored(about, 'active', name),
    (active) => about?.put('active', active),
  );
  const routed = routeTo && {
    name: routeTo.name,
    events: createEvents({ count: routeTo.partitions ?? partitions, ...common }),
  };
  return {
    name,
    createdAt: stored(about, 'createdAt', now()),
    consumerGroups: options.consumerGroups,
    registry,
    certificates,
    access: createAccess({
      ...{ hubName: name, hostNames: options.hostNames, policies, registry, certificates, authority },
      ...{ routedHub: routeTo?.name, now },
    }),
    presence: createPresence(registry, now),
    events: eventsOf(regions, routed?.events.accept),
    regions,
    routed,
    devicebound: createDevicebound({
      registry,
      journal,
      feedback,
      rules: { ...queueLimits, ...rules.devicebound },
      bytes: bounded.queues,
      strict: strictProperties || otherwise.has('c2d.characters'),
      otherwise,
      table: store?.table<StoredMessage>('devicebound'),
      now,
    }),
    feedback,
    uploads: fileStorage && createUploads({ storage: fileStorage, registry, bytes: bounded.feedback, now }),
    methods: createMethods(registry, journal, rules.methodsAtOnce),
    models: createModels(registry),
    twins,
    jobs: createJobs(now),
    configurations: createConfigurations(registry, twins, now),
    throttle: createThrottle(limits, now, { ms: shapingMs, backlog: shapingBacklog }),
    journal,
    deliveryCounters: createDeliveryCounters(),
    connections: createConnections(now),
    faults: createStandingFaults(),
    bounds: bounded,
    idle: { ...idleRules, ...rules.idle },
    otherwise,
    numbering,
    now,
  };
}

/** What the first hub with this store has said of itself, or the latest. */
function stored<V extends string | number>(about: Table<string | number> | undefined, key: string, otherwise: V): V {
  const known = about?.entries().find(([name]) => name === key)?.[1];
  if (known !== undefined) return known as V;
  about?.put(key, otherwise);
  return otherwise;
}

/** Bring back the identities that were stored, and store what becomes of them from now on. */
function persistRegistry(registry: Registry, store: Store): void {
  const identities = store.table<Identity>('registry');
  for (const [, identity] of identities.entries()) registry.restore(identity);
  registry.watch((change, identity) => {
    if (change === 'deleted') identities.delete(identity.clientId);
    else identities.put(identity.clientId, identity);
  });
}
