import type { Troubles } from '../../log/troubles.ts';
import { fits, type Reply } from '../../protocol/c2d.ts';
import { tell } from './replyTroubles.ts';
import type { DropReason, Refusal } from './sendFailure.ts';
import type { SendQueue } from './sendQueue.ts';

/** What became of a reply: with the hub, dropped for good, or left undecided because it is not ours to send any more. */
export type Delivery = 'delivered' | 'stopped' | { readonly dropped: DropReason };

/** Hands replies to the hub. The caller keeps the order of one device by awaiting; devices do not wait for each other. */
export interface Sender {
  /**
   * Never rejects.
   * @param gone aborted when the message that is answered is left to others: it waits for no further attempt
   */
  send(reply: Reply, ended?: AbortSignal): Promise<Delivery>;
  /** Ends all waiting: what is not with the hub by now stays undecided. */
  stop(): void;
}

interface SenderOptions {
  /** Sends once, and says when; answers why the hub did not take the reply. */
  readonly sendOnce: (reply: Reply, onSent: () => void) => Promise<Refusal | undefined>;
  /** Whose turn it is. */
  readonly sendQueue: SendQueue;
  /** How long one reply waits out what the hub has against it (C4). */
  readonly maxWaitMs: number;
  /** How long the hub may take to settle one send: what an attempt without an answer takes of that. */
  readonly answerWithinMs: number;
  readonly troubles: Troubles;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly now: () => number;
}

/** Of those that do not fetch. */
const mostDevices = 100_000;
const firstPauseMs = 100;
const longestPauseMs = 5_000;

export function createSender(options: SenderOptions): Sender {
  const { sendOnce, sendQueue, maxWaitMs, answerWithinMs, troubles, random, now } = options;
  let stopped = false;
  const sleepers = new Set<() => void>();
  /** Devices for which a reply has waited in vain for room: the next ones do not wait, until one is taken (D19). */
  const notFetching = new Set<string>();

  function remember(deviceId: string) {
    const [longestKnown] = notFetching;
    if (notFetching.size === mostDevices && longestKnown !== undefined) notFetching.delete(longestKnown);
    notFetching.add(deviceId);
  }

  const pause = (ms: number, over: AbortSignal | undefined) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        sleepers.delete(wake);
        over?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      sleepers.add(wake);
      over?.addEventListener('abort', wake, { once: true });
      if (stopped || over?.aborted) wake();
    });

  async function attempt(reply: Reply): Promise<Refusal | undefined> {
    let began = now();
    const refusal = await sendOnce(reply, () => {
      began = now(); // the time that it takes to connect says nothing of the hub's rate
    });
    sendQueue.settled(began, refusal);
    tell(refusal, reply, troubles);
    return refusal;
  }

  /** After a first attempt in vain. */
  async function persist(reply: Reply, first: Refusal, over: AbortSignal, settledLate: () => void): Promise<Delivery> {
    let refusal: Refusal | undefined = first;
    let patience = maxWaitMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      void refusal.late?.then((outcome) => outcome ?? settledLate());
      const isFull = refusal.reason === 'queue_full';
      const lasts = isFull && notFetching.has(reply.deviceId);
      if (refusal.kind === 'never' || lasts) return { dropped: refusal.reason as DropReason };
      if (refusal.kind !== 'hub') {
        const paused = now();
        await pause(pauseMs * (0.5 + random() / 2), over);
        // While there is no line to the hub at all, no reply of anybody is given up (D2).
        if (refusal.kind === 'later') patience -= now() - paused;
        if (refusal.reason === 'unanswered') patience -= answerWithinMs;
      }
      if (stopped || over.aborted) return 'stopped';
      if (patience <= 0) {
        if (isFull) remember(reply.deviceId);
        return { dropped: refusal.reason as DropReason };
      }
      if (!(await sendQueue.turn(reply.deviceId, reply.isFailure ?? false, over))) return 'stopped';
      refusal = await attempt(reply);
      if (refusal === undefined) return 'delivered';
    }
  }

  return {
    async send(reply, ended) {
      if (!fits(reply)) return { dropped: 'too_large' };
      const turn = sendQueue.turn(reply.deviceId, reply.isFailure ?? false, ended);
      if (turn !== true && !(await turn)) return 'stopped';
      const refusal = await attempt(reply);
      let delivery: Delivery = 'delivered';
      if (refusal !== undefined) {
        const over = new AbortController();
        const leave = () => over.abort();
        ended?.addEventListener('abort', leave, { once: true });
        if (ended?.aborted) leave();
        // The hub may settle a send when it has been given up: then nothing needs to be sent again.
        let isSettledLate = false;
        delivery = await persist(reply, refusal, over.signal, () => {
          isSettledLate = true;
          leave();
        });
        ended?.removeEventListener('abort', leave);
        if (isSettledLate) delivery = 'delivered';
      }
      if (delivery === 'delivered') notFetching.delete(reply.deviceId);
      return delivery;
    },
    stop() {
      stopped = true;
      sendQueue.close();
      for (const wake of [...sleepers]) wake();
    },
  };
}
