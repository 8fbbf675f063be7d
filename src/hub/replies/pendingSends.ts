import type { SendRefusal } from './sendFailure.ts';

/** The sends on one link that the hub has not settled. */
export interface PendingSends {
  /** The result of the send, or `unanswered` after the time-out; `late` is then its result. Never rejects. */
  follow(send: Promise<SendRefusal | undefined>): Promise<SendRefusal | undefined>;
  /**
   * Sends since the oldest one that is not settled, included. The client keeps a place for each, and has no more than so
   * many (SDK trap).
   */
  span(): number;
  /** Whether a caller of `follow` still waits. */
  areAwaited(): boolean;
  /** Resolves all as `unanswered`. */
  expire(): void;
}

interface PendingSend {
  readonly number: number;
  /** Timer ticks since it was sent, or since an earlier one was settled. */
  looks: number;
  expire: () => void;
}

interface PendingSendsOptions {
  /** How long the hub may take, from when it settled an earlier send. */
  readonly answerWithinMs: number;
  /** No send was settled for twice that time. */
  onSilence(): void;
  /** No caller of `follow` waits any more. */
  onIdle(): void;
}

const looksInTime = 8;

/**
 * A hub that throttles settles sends late and in order, and loses none (fact c2d.rate); so the time-out of a send starts again when an
 * earlier one is settled (C4). Time is counted in timer ticks: a pause of this process causes no time-out.
 */
export function createPendingSends({ answerWithinMs, onSilence, onIdle }: PendingSendsOptions): PendingSends {
  /** Sends that a caller waits for, and sends after their time-out. Both in order of sending. */
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

  function stopIfIdle() {
    if (awaited.size > 0) return;
    clearInterval(timer);
    timer = undefined;
    onIdle();
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
          stopIfIdle();
        };
        void send.then((outcome) => {
          silentLooks = 0;
          lowestSettled = Math.min(lowestSettled, pending.number);
          late.delete(pending);
          if (!awaited.delete(pending)) return;
          resolve(outcome);
          stopIfIdle();
        });
      });
    },
    span() {
      return sent - Math.min(first(late)?.number ?? sent, first(awaited)?.number ?? sent);
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
