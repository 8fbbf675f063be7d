import type { Backends } from '../backends/backends.ts';
import type { Card } from '../card/card.ts';
import type { Dependencies } from '../engine/lanes.ts';
import { catalogue, findCard } from '../messages/index.ts';
import type { Log } from '../observing/log.ts';
import type { Meter } from '../observing/metrics.ts';
import type { Taps } from '../observing/taps.ts';
import { bytesToReserve } from '../protocol/body.ts';
import { createEnvelopeReader, type EnvelopeLimits, messageNameOf } from '../protocol/envelope.ts';
import {
  classify,
  compactEvent,
  eventId,
  type Generation,
  type HubEvent,
  misspellingIn,
  type ReceivedMessage,
  senderOf,
  undecodedProperties,
  whyNotOurs,
} from '../protocol/event.ts';

/** Recognises the messages for this service among the events of a partition, with their device, and counts all events (R1, R3). */
export function createReceivedMessages(hub: string, meter: Meter, log: Log, taps?: Taps) {
  const count = meter.counter('messaging.client.consumed.messages');
  const countMisspelling = meter.counter('device_messaging.misspellings');

  return (partition: string) =>
    (event: HubEvent, redelivered: boolean): ReceivedMessage | undefined => {
      const generation = classify(event);
      const deviceId = senderOf(event);
      const place = () => ({ partition, sequenceNumber: event.sequenceNumber });
      if (event.body === undecodedProperties) {
        count('undecodable');
        log.warn({ ...place(), device: deviceId }, 'event whose properties cannot be decoded passed over');
        taps?.of(deviceId ?? '', place())?.('skipped', { why: 'its properties cannot be decoded' });
        return undefined;
      }
      const misspelling = misspellingIn(event, generation !== undefined);
      if (misspelling !== undefined) {
        countMisspelling();
        log.debug({ ...place(), device: deviceId, hint: misspelling }, 'message with a misspelt property');
      }
      if (generation === undefined) {
        count('skipped');
        taps?.of(deviceId ?? '', place())?.('skipped', { why: whyNotOurs(event), hint: misspelling });
        return undefined;
      }
      if (deviceId === undefined) {
        count('unattributed');
        log.warn(place(), 'message without the hub’s device stamp passed over');
        return undefined;
      }
      count('message');
      return { event: compactEvent(event), generation, deviceId, origin: { hub, partition }, redelivered };
    };
}

/** The backends that must be available before a message starts; undefined when it needs none (B5). */
export type DependenciesOf = (receivedMessage: ReceivedMessage) => Dependencies | undefined;

/** Cheap while all backends are available: it only looks up the card. */
export function createDependencies(backends: Pick<Backends, 'ready' | 'isUp'>, limits: EnvelopeLimits): DependenciesOf {
  const readEnvelope = createEnvelopeReader(limits);
  /** Cards that need the same backends share one requirement, so that their messages start in order. */
  const shared = new Map<string, Dependencies>();
  const requirements = new Map<Card, Dependencies>();
  for (const card of catalogue) {
    const { needs } = card;
    const key = needs.toSorted().join();
    const areAvailable = () => needs.every(backends.isUp);
    const met = async (pointless: AbortSignal) => (await backends.ready(needs, pointless)) ?? true;
    const dependencies: Dependencies = shared.get(key) ?? { needs, areAvailable, met };
    shared.set(key, dependencies);
    requirements.set(card, dependencies);
  }

  return ({ event, generation, deviceId, origin }) => {
    const { properties = {} } = event;
    const card = cardOf(generation, properties);
    const dependencies = card && requirements.get(card);
    if (dependencies === undefined || dependencies.areAvailable()) return dependencies;
    const { refusal } = readEnvelope(generation, properties, deviceId, eventId(event, origin, deviceId));
    return refusal ? undefined : dependencies;
  };
}

const cardOf = (generation: Generation, properties: HubEvent['properties'] = {}): Card | undefined =>
  findCard(generation, messageNameOf(generation, properties));

/** Bytes to reserve for a message before it starts: for its body, and for what it may keep of answers of backends (R6). */
export function bytesToReserveFor(event: HubEvent, maxInflatedBytes: number): number {
  const generation = classify(event);
  const card = generation && cardOf(generation, event.properties);
  return bytesToReserve(event, maxInflatedBytes) + (card?.keeps ?? 0);
}
