import { within } from '../concurrency/within.ts';
import type { LogLines } from '../log/log.ts';
import type { Meter } from '../metrics/meter.ts';
import type { Rejection } from '../protocol/rejection.ts';
import { storeFieldsOf } from '../storage/storeFailure.ts';
import { type DeadLetter, idOf } from './deadLetter.ts';
import type { DeadLetters } from './deadLetterStore.ts';

/** A message, and how often it has been parked before. */
type ParkableMessage = Pick<DeadLetter, 'event' | 'generation' | 'deviceId' | 'origin'> & {
  readonly attempts?: number;
};

/** Parks messages for dispatch. Never rejects: a failing store must not stop the service (G4). */
export interface Parking {
  /** Stores a failed message. If that fails, the log says where the hub has the message. */
  park(message: ParkableMessage, failure: Rejection, traceparent: string): Promise<void>;
  /** Removes the dead letter of a message that has now been handled. */
  release(message: ParkableMessage): Promise<void>;
}

export interface ParkingOptions {
  readonly deadLetters: Pick<DeadLetters, 'park' | 'remove'>;
  readonly meter: Meter;
  readonly log: LogLines;
  readonly now: () => Date;
}

/** A store that hangs must not delay the device's next messages. */
const parkWithinMs = 20_000;
const releaseWithinMs = 3_000;

export function createParking({ deadLetters, meter, log, now }: ParkingOptions): Parking {
  const count = meter.counter('device_messaging.dead_letters');

  return {
    async park({ event, generation, deviceId, origin, attempts = 0 }, { code, details }, traceparent) {
      try {
        const why = { code, details, parkedAt: now(), attempts: attempts + 1, traceparent };
        await within(deadLetters.park({ event, generation, deviceId, origin, ...why }), parkWithinMs);
        count('parked');
      } catch (error) {
        count('not_parked');
        const { sequenceNumber, offset } = event;
        const place = { partition: origin.partition, sequenceNumber, offset };
        log.error({ err: error, ...storeFieldsOf(error), device: deviceId, ...place }, 'message could not be parked');
      }
    },
    async release(message) {
      try {
        await within(deadLetters.remove(idOf(message)), releaseWithinMs);
      } catch (error) {
        const { deviceId, origin, event } = message;
        const place = { partition: origin.partition, sequenceNumber: event.sequenceNumber };
        log.warn(
          { err: error, ...storeFieldsOf(error), device: deviceId, ...place },
          'message handled again, but its dead letter, if any, could not be removed',
        );
      }
    },
  };
}
