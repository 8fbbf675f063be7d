import { withFields } from 'telemetry/log.ts';
import { createArrivals } from '../dispatch/recognition.ts';
import { bytesToReserveFor } from '../dispatch/requirements.ts';
import type { Backlog } from '../engine/budget/backlog.ts';
import { type Budget, createBudget } from '../engine/budget/budget.ts';
import { createTurnstile, type Turnstile } from '../engine/quarantine/quarantine.ts';
import { ofLookedUp } from '../hub/endpoint/endpointDiagnosis.ts';
import { enterEndpoint } from '../hub/endpoint/endpointRecord.ts';
import { connectionStringTo, type EventEndpoint } from '../hub/endpoint/eventEndpoint.ts';
import { findEndpoint, settingsAt } from '../hub/endpoint/findEndpoint.ts';
import { type FailoverPosition, type FollowOptions, followHub } from '../hub/endpoint/followHub.ts';
import { balanceLimits } from '../hub/reading/balance.ts';
import { type Consumer, type ConsumerOptions, createConsumer } from '../hub/reading/consumer.ts';
import { createOwnerships, type Ownerships } from '../hub/reading/ownerships.ts';
import type { StartPosition } from '../hub/reading/startPosition.ts';
import { openDurableText } from '../hub/stores/openDurableText.ts';
import { openStore } from '../hub/stores/openStore.ts';
import type { Access, EventsAccess } from '../identity/access.ts';
import { currentOf, derivedFrom, isSecret, type Secret } from '../identity/rotatingSecret.ts';
import type { Log } from '../log/log.ts';
import type { Troubles } from '../log/troubles.ts';
import type { Meter } from '../metrics/meter.ts';
import type { StoreRecords } from '../observing/storeRecords.ts';
import type { Arrival } from '../protocol/arrival.ts';
import type { HubEvent } from '../protocol/event.ts';
import type { Settings } from '../settings/config.ts';
import { checkpointEveryMessages, failover, messageLimits, reading, timing } from '../settings/constants.ts';
import { eventHubNameOf, isLookedUp, partitionShare, roundMs } from '../settings/derived.ts';
import { hubLoginOf, hubNameOf } from '../settings/hubLogin.ts';
import type { Taps } from '../tap/taps.ts';
import type { Handling } from './handling.ts';

interface ReadingParts {
  readonly instance: string;
  readonly access: Access;
  readonly handling: Handling;
  /** Of all partitions. */
  readonly overall: Budget;
  readonly backlog: Backlog;
  readonly log: Log;
  readonly troubles: Troubles;
  readonly meter: Meter;
  readonly stores: StoreRecords;
  readonly taps: Taps;
}

const answerMs = 20_000;

/**
 * Reads the hub: at the endpoint that the settings name, or at the one that the hub names, which changes when it fails over.
 * @throws Error when the checkpoints at the endpoint of the settings cannot be read
 */
export async function createReading(settings: Settings, parts: ReadingParts): Promise<Consumer> {
  const { access, log, troubles, meter, stores } = parts;
  const { hub } = settings;
  const startPosition = hub.startPosition as StartPosition;
  const turnstile = createTurnstile();
  if (!isLookedUp(hub)) return openAt(settings, access.events(), parts, { startPosition, turnstile });
  const record = openDurableText('endpoints', settings, stores, access);
  const told = ofLookedUp(hubNameOf(hubLoginOf(hub.serviceConnectionString)), hub.consumerGroup);
  return followHub({
    lookUp: () => findEndpoint(currentOf(hubOf(access)), failover.answerMs),
    enter: (endpoint) => enterEndpoint(record, endpoint),
    async open(found, start, seen) {
      const how = { startPosition: start, turnstile, seen, told };
      const events = derivedFrom(hubOf(access), (key) => connectionStringTo(found, hubLoginOf(key)));
      return openAt(settingsAt(settings, found), events, parts, how);
    },
    ownedByOthers: othersAt(settings, parts),
    startPosition,
    failoverPosition: hub.failoverPosition as FailoverPosition,
    limits: { ...failover, othersMs: failover.finishMs + balanceLimitsOf(settings).forceMs },
    ...{ log, troubles, meter },
  });
}

/** Only instances that share a store are others. Each endpoint is looked at by one clock as long as the process runs. */
function othersAt(settings: Settings, { instance, access, stores }: ReadingParts): FollowOptions['ownedByOthers'] {
  if (settings.store.kind === 'file') return async () => 0;
  const { expiryMs } = balanceLimitsOf(settings);
  const known = new Map<string, Promise<Ownerships>>();

  async function openOwnerships(endpoint: EventEndpoint): Promise<Ownerships> {
    return createOwnerships(
      await openStore(settingsAt(settings, endpoint), stores, access),
      instance,
      answerMs,
      expiryMs / 3,
    );
  }

  async function ownedAt(endpoint: EventEndpoint): Promise<number> {
    const name = JSON.stringify(endpoint);
    const opened = known.get(name) ?? openOwnerships(endpoint);
    known.set(name, opened);
    opened.catch(() => known.delete(name));
    const records = await (await opened).look();
    return records.filter((one) => !['', instance].includes(one.owner) && one.unrenewedMs < expiryMs).length;
  }

  return async (endpoints) => {
    const counts = await Promise.all(endpoints.map(ownedAt));
    return counts.reduce((sum, count) => sum + count, 0);
  };
}

/** Only a connection string has the key that the endpoint takes, too. */
function hubOf(access: Access): Secret {
  const service = access.service();
  if (!isSecret(service)) throw new Error('the event endpoint is looked up only by a connection string');
  return service;
}

const balanceLimitsOf = ({ delivery }: Settings) =>
  balanceLimits(timing.expirySeconds * 1000, delivery.drainSeconds * 1000);

interface HowToRead {
  readonly startPosition: StartPosition;
  readonly turnstile: Turnstile;
  /** Called for each event. */
  readonly seen?: (event: HubEvent) => void;
  readonly told?: ConsumerOptions<Arrival>['told'];
}

/** @param events by what the endpoint of the settings is read */
async function openAt(settings: Settings, events: EventsAccess, parts: ReadingParts, how: HowToRead) {
  const { instance, access, handling, overall, backlog, log, meter, stores, taps } = parts;
  const { hub, delivery } = settings;
  const { startPosition, turnstile, seen, told } = how;
  const { dispatch, requirementOf, deadLetters } = handling;
  const arrivals = createArrivals({ hub: eventHubNameOf(hub), meter, log, taps });
  const share = partitionShare(delivery);
  const store = await openStore(settings, stores, access);

  function arrivalOf(partition: string): ReturnType<typeof arrivals> {
    const recognise = arrivals(partition);
    if (seen === undefined) return recognise;
    return (event, redelivered) => {
      seen(event);
      return recognise(event, redelivered);
    };
  }

  const consumer = createConsumer({
    ...reading,
    instance,
    access: events,
    consumerGroup: hub.consumerGroup,
    startPosition,
    drainMs: delivery.drainSeconds * 1000,
    roundMs: roundMs(timing.expirySeconds),
    answerMs,
    balance: balanceLimitsOf(settings),
    store,
    log,
    meter,
    taps,
    sessionBegins: deadLetters.takenOver,
    ...(told && { told }),
    partition: (partition) => ({
      budget: createBudget(share, overall),
      backlog,
      quarantine: {
        mostSuspects: share.maxMessages,
        turnstile,
        log: withFields(log, { partition }),
        meter,
      },
      limits: {
        everyMessages: checkpointEveryMessages,
        everyMs: timing.checkpointSeconds * 1000,
      },
      arrivalOf: arrivalOf(partition),
      costOf: (event) => bytesToReserveFor(event, messageLimits.maxInflatedBytes),
      requirementOf,
      publisherOf: ({ deviceId, event: { sequenceNumber }, origin }: Arrival) =>
        taps.of(deviceId, { partition: origin.partition, sequenceNumber }),
      dispatch,
    }),
  });
  return consumer;
}
