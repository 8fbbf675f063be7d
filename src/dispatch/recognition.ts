import type { Log } from '../log/log.ts';
import type { Meter } from '../metrics/meter.ts';
import {
  type Arrival,
  classify,
  compactEvent,
  type HubEvent,
  misspellingIn,
  senderOf,
  undecodedProperties,
  whyNotOurs,
} from '../protocol/event.ts';
import type { Taps } from '../tap/taps.ts';

interface ArrivalsOptions {
  readonly hub: string;
  readonly meter: Meter;
  readonly log: Log;
  /** The followers of devices; none when omitted. */
  readonly taps?: Taps;
}

/** Recognises the messages for this service among the events of a partition, with their device, and counts all events (R1, R3). */
type ArrivalsOf = (partition: string) => (event: HubEvent, redelivered: boolean) => Arrival | undefined;

export function createArrivals({ hub, meter, log, taps }: ArrivalsOptions): ArrivalsOf {
  const count = meter.counter('messaging.client.consumed.messages');
  const countMisspelling = meter.counter('device_messaging.misspellings');

  return (partition) => (event, redelivered) => {
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
      const publish = taps?.of(deviceId ?? '', place());
      publish?.('skipped', { why: whyNotOurs(event), hint: misspelling });
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
