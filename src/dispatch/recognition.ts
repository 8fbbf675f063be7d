import type { Log } from '../log/log.ts';
import type { Meter } from '../metrics/meter.ts';
import { classify, type HubEvent, senderOf, undecodedProperties, whyNotOurs } from '../protocol/event.ts';
import { misspellingIn } from '../protocol/misspellings.ts';
import type { Taps } from '../tap/taps.ts';
import type { Arrival } from './dispatch.ts';

interface ArrivalsOptions {
  readonly hub: string;
  readonly meter: Meter;
  readonly log: Log;
  /** Who follows which devices; nobody when omitted. */
  readonly taps?: Taps;
}

/** Recognises our messages among the events of a partition, with their device; counts the others (R1, R3). */
export function createArrivals({ hub, meter, log, taps }: ArrivalsOptions) {
  const countPassedOver = meter.counter('messaging.client.consumed.messages');
  const countMisspelling = meter.counter('device_messaging.misspellings');

  return (partition: string) =>
    (event: HubEvent, redelivered: boolean): Arrival | undefined => {
      const generation = classify(event);
      const deviceId = senderOf(event);
      const place = () => ({ partition, sequenceNumber: event.sequenceNumber });
      if (event.body === undecodedProperties) {
        countPassedOver('undecodable');
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
        countPassedOver('skipped');
        const tell = taps?.of(deviceId ?? '', place());
        tell?.('skipped', { why: whyNotOurs(event), hint: misspelling });
        return undefined;
      }
      if (deviceId === undefined) {
        countPassedOver('unattributed');
        log.warn(place(), 'message without the hub’s device stamp passed over');
        return undefined;
      }
      return { event, generation, deviceId, origin: { hub, partition }, redelivered };
    };
}
