import { atMost, pause, singleFlight, TooLate, within } from '../concurrency/waiting.ts';
import type { LogLines, Troubles } from '../observing/log.ts';
import type { Meter } from '../observing/metrics.ts';
import { storeFieldsOf } from '../observing/storeFailure.ts';
import type { Rejection } from '../protocol/rejection.ts';
import { idOf, type ParkableMessage } from './deadLetter.ts';
import { type DeadLetters, LetterRefused } from './deadLetterStore.ts';

export interface ParkingOptions {
  readonly deadLetters: Pick<DeadLetters, 'park' | 'remove'>;
  readonly meter: Meter;
  readonly log: LogLines;
  readonly troubles: Pick<Troubles, 'raise' | 'clear'>;
  readonly now: () => Date;
}

/** A store that has not answered for so long is out. */
const answerMs = 20_000;
const releaseWithinMs = 3_000;
/** When one has taken longer, others hold up their devices no more for this time, but for so many. */
const releaseLater = { forMs: 60_000, together: 100 };

/** Between two attempts; each is twice the one before, up to the longest (D18). */
const pauses = { firstMs: 500, longestMs: 15_000 };

/** Dead letters that are written at once; each is in memory as text. */
const together = 32;
const source = 'dead letters';

/** Parks messages for dispatch. Never rejects: a failing store must not stop the service (G4). */
export function createParking({ deadLetters, meter, log, troubles, now }: ParkingOptions) {
  const count = meter.counter('device_messaging.dead_letters');
  const inTurn = atMost(together);
  /** Those whose last attempt has failed. */
  const waiting = new Set<ParkableMessage>();
  let releasing = 0;
  let releasedLaterUntil = Number.NEGATIVE_INFINITY;
  meter.observe('device_messaging.dead_letters.waiting', () => [[waiting.size]]);

  function placeOf({ deviceId: device, origin, event }: ParkableMessage) {
    return { device, partition: origin.partition, sequenceNumber: event.sequenceNumber };
  }

  function refused(message: ParkableMessage, error: LetterRefused) {
    count('not_parked');
    const place = { ...placeOf(message), offset: message.event.offset };
    log.error({ err: error, ...storeFieldsOf(error.cause), todo: error.todo, ...place }, 'message could not be parked');
    return 'refused' as const;
  }

  async function remove(message: ParkableMessage): Promise<void> {
    releasing += 1;
    try {
      await within(deadLetters.remove(idOf(message)), releaseWithinMs);
    } catch (error) {
      if (error instanceof TooLate) releasedLaterUntil = performance.now() + releaseLater.forMs;
      const fields = { err: error, ...storeFieldsOf(error), ...placeOf(message) };
      log.warn(fields, 'message handled again, but its dead letter, if any, could not be removed');
    } finally {
      releasing -= 1;
    }
  }

  return {
    /**
     * Tries again with back-off while the store is out. What is refused is told in the log, with the place where the hub has the message.
     * `left`: its partition has ended before, and the next reader handles it again.
     * @param waits called when the store is out: from now on the message waits for it
     */
    async park(
      message: ParkableMessage,
      { code, details }: Rejection,
      traceparent: string,
      { ended, waits }: { readonly ended: AbortSignal; waits(): void },
    ) {
      const { event, generation, deviceId, origin, attempts = 0 } = message;
      const about = { event, generation, deviceId, origin, code, details, attempts: attempts + 1, traceparent };
      // An attempt without an answer is asked about again, instead of writing the letter a second time behind it.
      const write = singleFlight(() => deadLetters.park({ ...about, parkedAt: now() }));
      if (waiting.size > 0) waits(); // its turn may come late
      /** When the partition has ended since the answer, the store may take the letter at once. */
      let isExempt = ended.aborted;
      try {
        for (let pauseMs = pauses.firstMs; ; pauseMs = Math.min(pauseMs * 2, pauses.longestMs)) {
          try {
            // Its turn may come when the next reader has handled the message: a letter would stay behind.
            const isLeft = await inTurn(async () => {
              if (ended.aborted && !isExempt) return true;
              isExempt = false;
              await within(write(), answerMs);
              return false;
            });
            if (isLeft) return 'left';
            count('parked');
            waiting.delete(message);
            if (waiting.size === 0) troubles.clear(source, 'dead letters are written again');
            return 'parked';
          } catch (error) {
            if (error instanceof LetterRefused) return refused(message, error);
            waiting.add(message);
            waits();
            troubles.raise(source, {
              level: 'error',
              message: 'dead letters cannot be written; failed messages wait, and their devices with them',
              diagnosis: { err: error, ...storeFieldsOf(error), letters: waiting.size },
            });
          }
          await pause(pauseMs, ended);
        }
      } finally {
        waiting.delete(message);
      }
    },
    async release(message: ParkableMessage): Promise<void> {
      const removed = remove(message);
      if (performance.now() >= releasedLaterUntil || releasing > releaseLater.together) await removed;
    },
  };
}
