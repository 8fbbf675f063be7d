import type { Log } from '../log/log.ts';
import type { Counters } from '../metrics/counters.ts';
import { classify, type HubEvent, senderOf } from '../protocol/event.ts';
import { misspellingIn } from '../protocol/misspellings.ts';
import type { Arrival } from './dispatch.ts';

interface ArrivalsOptions {
  readonly hub: string;
  readonly counters: Counters;
  readonly log: Log;
}

/** Recognises our messages among the events of a partition, with their device; counts the others (R1, R3). */
export function createArrivals({ hub, counters, log }: ArrivalsOptions) {
  return (partition: string) =>
    (event: HubEvent, redelivered: boolean): Arrival | undefined => {
      const generation = classify(event);
      const deviceId = senderOf(event);
      const place = { partition, sequenceNumber: event.sequenceNumber };
      const misspelling = misspellingIn(event, generation !== undefined);
      if (misspelling !== undefined) {
        counters.misspellings += 1;
        log.debug({ ...place, device: deviceId, hint: misspelling }, 'message with a misspelt property');
      }
      if (generation === undefined) {
        counters.skipped += 1;
        return undefined;
      }
      if (deviceId === undefined) {
        counters.unattributed += 1;
        log.warn(place, 'message without the hub’s device stamp passed over');
        return undefined;
      }
      return { event, generation, deviceId, origin: { hub, partition }, redelivered };
    };
}
