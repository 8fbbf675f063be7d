import type { Refusal } from './refusal.ts';

/** The sends on one link that the hub has not settled. */
export interface Flights {
  /** What the send comes to, or that it is not settled in time: then what it comes to later is in `late`. Never rejects. */
  follow(send: Promise<Refusal | undefined>): Promise<Refusal | undefined>;
  /**
   * Sends since the oldest that is not settled, that one included. The client keeps room for 2,048: one lost answer stops
   * the link when so many more have followed (SDK trap).
   */
  span(): number;
  /** Whether somebody still waits for one. */
  areAwaited(): boolean;
  /** Waits for none any more. */
  giveUp(): void;
}

interface Flight {
  readonly number: number;
  /** Looks at it since it was sent, or since one before it was settled. */
  looks: number;
  giveUp: () => void;
}

interface FlightsOptions {
  /** How long the hub may take, from when it has settled what was sent before. */
  readonly answerWithinMs: number;
  /** Nothing was settled for twice that time. */
  onSilence(): void;
  /** Nobody waits for one any more. */
  onRest(): void;
}

const looksInTime = 8;

/**
 * A hub that holds sends back settles them one after the other, each late, none lost: then a send is only as late as the
 * hub is with those before it (C4). Time is counted in looks, so that a process that stood still blames nobody.
 */
export function createFlights({ answerWithinMs, onSilence, onRest }: FlightsOptions): Flights {
  /** Those that somebody waits for; those that were given up and may yet be settled. Both in the order of sending. */
  const awaited = new Set<Flight>();
  const late = new Set<Flight>();
  let sent = 0;
  let lowestSettled = Number.POSITIVE_INFINITY;
  let silentLooks = 0;
  let timer: NodeJS.Timeout | undefined;

  function look() {
    for (const flight of awaited) {
      flight.looks = flight.number > lowestSettled ? 0 : flight.looks + 1;
      if (flight.looks > looksInTime) flight.giveUp();
    }
    lowestSettled = Number.POSITIVE_INFINITY;
    silentLooks += 1;
    if (silentLooks > 2 * looksInTime) onSilence();
  }

  function rest() {
    if (awaited.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    onRest();
  }

  return {
    follow(send) {
      const flight: Flight = { number: sent, looks: 0, giveUp() {} };
      sent += 1;
      awaited.add(flight);
      timer ??= setInterval(look, answerWithinMs / looksInTime).unref();
      return new Promise((resolve) => {
        flight.giveUp = () => {
          awaited.delete(flight);
          late.add(flight);
          resolve({ kind: 'later', reason: 'unanswered', late: send });
          rest();
        };
        void send.then((outcome) => {
          silentLooks = 0;
          lowestSettled = Math.min(lowestSettled, flight.number);
          late.delete(flight);
          if (!awaited.delete(flight)) return;
          resolve(outcome);
          rest();
        });
      });
    },
    span() {
      const oldest = [first(late)?.number ?? sent, first(awaited)?.number ?? sent];
      return sent - Math.min(...oldest);
    },
    areAwaited: () => awaited.size > 0,
    giveUp() {
      for (const flight of awaited) flight.giveUp();
    },
  };
}

function first<T>(set: ReadonlySet<T>): T | undefined {
  const [one] = set;
  return one;
}
