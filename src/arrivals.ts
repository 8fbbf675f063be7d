import type { Arrival } from './dispatch.ts';
import type { Log } from './log.ts';
import type { Counters } from './operations/counters.ts';
import { classify, type HubEvent, senderOf } from './protocol/event.ts';
import { slipIn } from './protocol/slips.ts';

interface ArrivalsOptions {
  readonly hub: string;
  readonly counters: Counters;
  readonly log: Log;
}

/** Tells which events of a partition are messages of ours, and from which device; counts the others (R1, R3). */
export function createArrivals({ hub, counters, log }: ArrivalsOptions) {
  return (partition: string) =>
    (event: HubEvent, mayBeRepeat: boolean): Arrival | undefined => {
      const generation = classify(event);
      const deviceId = senderOf(event);
      const place = { partition, sequenceNumber: event.sequenceNumber };
      const slip = slipIn(event, generation !== undefined);
      if (slip !== undefined) {
        counters.slips += 1;
        log.debug({ ...place, device: deviceId, hint: slip }, 'message with a misspelt property');
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
      return { event, generation, deviceId, origin: { hub, partition }, mayBeRepeat };
    };
}
