import { fits, type Reply } from '../../protocol/c2d.ts';
import { atMost } from '../atMost.ts';
import type { DropReason, Refusal } from './refusal.ts';

/** What became of a reply: with the hub, dropped for good, or left undecided because it is not ours to send any more. */
export type Delivery = 'delivered' | 'stopped' | { readonly dropped: DropReason };

/** Hands replies to the hub. The caller keeps the order of one device by awaiting; devices do not wait for each other. */
export interface Sender {
  /**
   * Never rejects.
   * @param gone aborted when the message that is answered is left to others: it waits for no further attempt
   */
  send(reply: Reply, gone?: AbortSignal): Promise<Delivery>;
  /** Ends all waiting: what is not with the hub by now stays undecided. */
  stop(): void;
}

interface SenderOptions {
  /** Sends once; answers why the hub did not take the reply. */
  readonly sendOnce: (reply: Reply) => Promise<Refusal | undefined>;
  /** How long one reply waits out a full queue or throttling (C4). */
  readonly maxWaitMs: number;
  /** Most replies that wait for the hub's answer at once. */
  readonly maxInFlight: number;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly now: () => number;
}

/** Of those that do not fetch. */
const mostDevices = 100_000;
const firstPauseMs = 100;
const longestPauseMs = 5_000;

export function createSender({ sendOnce, maxWaitMs, maxInFlight, random, now }: SenderOptions): Sender {
  const oneOfMany = atMost(maxInFlight);
  let stopped = false;
  const sleepers = new Set<() => void>();
  /** Devices for which a reply has waited in vain for room: the next ones do not wait, until one is taken (D19). */
  const notFetching = new Set<string>();

  function remember(deviceId: string) {
    const [longestKnown] = notFetching;
    if (notFetching.size === mostDevices && longestKnown !== undefined) notFetching.delete(longestKnown);
    notFetching.add(deviceId);
  }

  const pause = (ms: number, gone: AbortSignal | undefined) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        sleepers.delete(wake);
        gone?.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      sleepers.add(wake);
      gone?.addEventListener('abort', wake, { once: true });
    });

  return {
    async send(reply, gone) {
      if (!fits(reply)) return { dropped: 'too_large' };
      const isLeft = () => stopped || gone?.aborted;
      let patience = maxWaitMs;
      for (let attempt = 0; !isLeft(); attempt += 1) {
        const began = now();
        const refusal = await oneOfMany(() => sendOnce(reply));
        if (refusal === undefined) {
          notFetching.delete(reply.deviceId);
          return 'delivered';
        }
        const isFull = refusal.reason === 'queue_full';
        if (refusal.kind === 'never' || (isFull && notFetching.has(reply.deviceId))) return { dropped: refusal.reason };
        const ms = Math.min(firstPauseMs * 2 ** attempt, longestPauseMs) * (0.5 + random() / 2);
        if (!isLeft()) await pause(ms, gone);
        // While there is no line to the hub at all, no reply of anybody is given up (D2).
        if (refusal.kind === 'later') patience -= now() - began;
        if (patience > 0) continue;
        if (isFull) remember(reply.deviceId);
        return { dropped: refusal.reason };
      }
      return 'stopped';
    },
    stop() {
      stopped = true;
      for (const wake of [...sleepers]) wake();
    },
  };
}
