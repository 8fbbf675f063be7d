import type { Access, EventsAccess } from '../access/access.ts';
import { currentOf, derivedFrom, isSecret, type Secret } from '../access/secretFiles.ts';
import { bytesToReserveFor, createReceivedMessages } from '../dispatch/recognition.ts';
import { type Budget, createBudget } from '../engine/budget.ts';
import { createTurnstile, type Turnstile } from '../engine/quarantine.ts';
import type { Backlog } from '../engine/rooms.ts';
import { balanceLimits } from '../hub/reading/balance.ts';
import { type Consumer, createConsumer } from '../hub/reading/consumer.ts';
import {
  connectionStringTo,
  createEndpointLease,
  type EventEndpoint,
  findEndpoint,
  nameOf,
  readFoundEndpoint,
  settingsAt,
  type TakeEndpoint,
} from '../hub/reading/foundEndpoint.ts';
import { createLeases, type Leases } from '../hub/reading/leases.ts';
import type { StartPosition } from '../hub/reading/startPosition.ts';
import { ofLookedUp } from '../observing/diagnosis.ts';
import { type Log, type Troubles, withFields } from '../observing/log.ts';
import type { ReceivedMessage } from '../protocol/event.ts';
import type { Settings } from '../settings/config.ts';
import { checkpointEveryMessages, failover, messageLimits, reading, timing } from '../settings/constants.ts';
import { eventHubNameOf, hubLoginOf, hubNameOf, isLookedUp, partitionShare, roundMs } from '../settings/derived.ts';
import { openStore } from '../stores/open.ts';
import type { createHandling, HandlingOptions } from './handling.ts';

interface ReadingParts extends Required<Pick<HandlingOptions, 'access' | 'meter' | 'stores' | 'taps'>> {
  readonly instance: string;
  readonly handling: ReturnType<typeof createHandling>;
  readonly overall: Budget;
  readonly backlog: Backlog;
  readonly log: Log;
  readonly troubles: Troubles;
  /** The hub has failed over, and the process is to stop (D402). */
  readonly failedOver: () => void;
}

const answerMs = 20_000;

/**
 * Reads the hub: at the endpoint that the settings name, or at the one that the hub names, which changes when it fails over.
 * @throws Error when the checkpoints at the endpoint of the settings cannot be read
 */
export async function createReading(settings: Settings, parts: ReadingParts): Promise<Consumer> {
  const { access, log, troubles, failedOver } = parts;
  const { hub } = settings;
  const turnstile = createTurnstile();
  if (!isLookedUp(hub)) return openAt(settings, access.events(), parts, turnstile);
  const told = ofLookedUp(hubNameOf(hubLoginOf(hub.serviceConnectionString)), hub.consumerGroup);
  return readFoundEndpoint({
    lookUp: () => findEndpoint(currentOf(hubOf(access)), failover.answerMs),
    take: await endpointLease(settings, parts),
    async open(found) {
      const events = derivedFrom(hubOf(access), (key) => connectionStringTo(found, hubLoginOf(key)));
      return openAt(settingsAt(settings, found), events, parts, turnstile, told);
    },
    moved: failedOver,
    limits: { ...failover, othersMs: failover.eventlessMs + balanceLimitsOf(settings).forceMs },
    ...{ log, troubles },
  });
}

/** Only instances that share a store are others. */
async function endpointLease(settings: Settings, { instance, access, stores }: ReadingParts): Promise<TakeEndpoint> {
  if (settings.store.kind === 'file') return async () => true;
  const { expiryMs } = balanceLimitsOf(settings);
  const { host } = hubLoginOf(settings.hub.serviceConnectionString);
  const storeAt = (endpoint: EventEndpoint) => openStore(settingsAt(settings, endpoint), stores, access);
  /** Of the endpoint before: how long an owner has not renewed is counted from the first look. */
  let before: { readonly name: string; readonly ownerships: Leases } | undefined;
  async function ownershipsAt(endpoint: EventEndpoint): Promise<Leases> {
    const name = nameOf(endpoint);
    if (before?.name !== name)
      before = { name, ownerships: createLeases(await storeAt(endpoint), instance, answerMs, expiryMs / 3) };
    return before.ownerships;
  }
  return createEndpointLease(await storeAt({ namespace: host, eventHub: hubNameOf({ host }) }), ownershipsAt, expiryMs);
}

const balanceLimitsOf = ({ delivery }: Settings) =>
  balanceLimits(timing.expirySeconds * 1000, delivery.drainSeconds * 1000);

/** Only a connection string has the key that the endpoint takes, too. */
function hubOf(access: Access): Secret {
  const service = access.service();
  if (!isSecret(service)) throw new Error('the event endpoint is looked up only by a connection string');
  return service;
}

/** @param told what an error means at an endpoint that was looked up */
async function openAt(
  settings: Settings,
  events: EventsAccess,
  { instance, access, handling, overall, backlog, log, meter, stores, taps }: ReadingParts,
  turnstile: Turnstile,
  told?: ReturnType<typeof ofLookedUp>,
): Promise<Consumer> {
  const { hub, delivery } = settings;
  const { dispatch, dependenciesOf, deadLetters } = handling;
  const receivedMessages = createReceivedMessages(eventHubNameOf(hub), meter, log, taps);
  const share = partitionShare(delivery);
  const store = await openStore(settings, stores, access);

  return createConsumer({
    ...reading,
    ...{ instance, access: events, consumerGroup: hub.consumerGroup, store, log, meter, taps, answerMs },
    startPosition: hub.startPosition as StartPosition,
    drainMs: delivery.drainSeconds * 1000,
    roundMs: roundMs(timing.expirySeconds),
    balance: balanceLimitsOf(settings),
    sessionBegins: deadLetters.takenOver,
    ...(told && { told }),
    partition: (partition) => ({
      budget: createBudget(share, overall),
      backlog,
      quarantine: { mostSuspects: share.maxMessages, turnstile, log: withFields(log, { partition }), meter },
      limits: { everyMessages: checkpointEveryMessages, everyMs: timing.checkpointSeconds * 1000 },
      receivedMessageOf: receivedMessages(partition),
      costOf: (event) => bytesToReserveFor(event, messageLimits.maxInflatedBytes),
      dependenciesOf,
      publisherOf: ({ deviceId, event: { sequenceNumber }, origin }: ReceivedMessage) =>
        taps.of(deviceId, { partition: origin.partition, sequenceNumber }),
      dispatch,
    }),
  });
}
