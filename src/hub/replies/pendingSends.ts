import type { Refusal } from './sendFailure.ts';

/** The sends on one link that the hub has not settled. */
export interface PendingSends {
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
  expire(): void;
}

interface PendingSend {
  readonly number: number;
  /** Looks at it since it was sent, or since one before it was settled. */
  looks: number;
  expire: () => void;
}

interface PendingSendsOptions {
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
export function createPendingSends({ answerWithinMs, onSilence, onRest }: PendingSendsOptions): PendingSends {
  /** Those that somebody waits for; those that were given up and may yet be settled. Both in the order of sending. */
  const awaited = new Set<PendingSend>();
  const late = new Set<PendingSend>();
  let sent = 0;
  let lowestSettled = Number.POSITIVE_INFINITY;
  let silentLooks = 0;
  let timer: NodeJS.Timeout | undefined;

  function look() {
    for (const pending of awaited) {
      pending.looks = pending.number > lowestSettled ? 0 : pending.looks + 1;
      if (pending.looks > looksInTime) pending.expire();
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
      const pending: PendingSend = { number: sent, looks: 0, expire() {} };
      sent += 1;
      awaited.add(pending);
      timer ??= setInterval(look, answerWithinMs / looksInTime).unref();
      return new Promise((resolve) => {
        pending.expire = () => {
          awaited.delete(pending);
          late.add(pending);
          resolve({ kind: 'later', reason: 'unanswered', late: send });
          rest();
        };
        void send.then((outcome) => {
          silentLooks = 0;
          lowestSettled = Math.min(lowestSettled, pending.number);
          late.delete(pending);
          if (!awaited.delete(pending)) return;
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
    expire() {
      for (const pending of awaited) pending.expire();
    },
  };
}

function first<T>(set: ReadonlySet<T>): T | undefined {
  const [one] = set;
  return one;
}
