import type { Troubles } from '../../log/troubles.ts';
import { type Meter, noMeter } from '../../metrics/meter.ts';
import { fits, type Reply } from '../../protocol/c2d.ts';
import type { Delivery, DropReason, RefusalReason } from '../../protocol/delivery.ts';
import { reportRefusal } from './replyTroubles.ts';
import type { SendRefusal } from './sendFailure.ts';
import type { SendQueue, SendQueueState } from './sendQueue.ts';

/** Sends replies to the hub. To keep the order of a device, the caller awaits each of its replies. */
export interface Sender {
  /**
   * Never rejects.
   * @param ended when aborted, the reply waits for no further attempt
   * @param observer told what the reply waits for
   */
  send(reply: Reply, ended?: AbortSignal, observer?: ReplyObserver): Promise<Delivery>;
  state(): SenderState;
  /** Devices whose replies are tried only once (D19). */
  notFetching(): Iterable<string>;
  /** Ends all waiting: replies that the hub has not accepted end as `stopped`. */
  stop(): void;
}

/** For operators. `waiting` has the replies that wait for another attempt, too. */
export interface SenderState extends SendQueueState {
  /** Devices that do not fetch their replies (D19). */
  readonly notFetching: number;
}

export interface ReplyObserver {
  /** The reply waits for its `turn` to be sent, or for the `hub` to take it. */
  waits(what: 'turn' | 'hub'): void;
  /** The hub has not taken it: called each time. */
  refused(reason: RefusalReason): void;
}

interface SenderOptions {
  /** Sends once and calls `onSent` when the send begins; returns why the hub did not accept the reply. */
  readonly sendOnce: (reply: Reply, onSent: () => void) => Promise<SendRefusal | undefined>;
  readonly sendQueue: SendQueue;
  /** How long one reply is sent again while the hub refuses it (C4). */
  readonly maxWaitMs: number;
  /** How long the hub may take to settle one send: an attempt without an answer takes this part of `maxWaitMs`. */
  readonly answerWithinMs: number;
  readonly troubles: Troubles;
  readonly meter?: Meter;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
  /** A clock that can't be set, in milliseconds (D180). */
  readonly now: () => number;
}

/** Bound of `notFetching`. */
const mostDevices = 100_000;
const firstPauseMs = 100;
const longestPauseMs = 5_000;

export function createSender(options: SenderOptions): Sender {
  const { sendOnce, sendQueue, maxWaitMs, answerWithinMs, troubles, random, now, meter = noMeter } = options;
  const recordSend = meter.histogram('messaging.client.operation.duration');
  let stopped = false;
  const sleepers = new Set<() => void>();
  /** Devices whose queue was full for all of `maxWaitMs`: later replies are tried once, until one is accepted (D19). */
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

  async function attempt(reply: Reply, observer: ReplyObserver | undefined): Promise<SendRefusal | undefined> {
    observer?.waits('hub');
    let began = now();
    const refusal = await sendOnce(reply, () => {
      began = now(); // the time to connect is no sign of the hub's rate
    });
    sendQueue.settled(began, refusal);
    recordSend((now() - began) / 1000, refusal?.reason ?? '');
    reportRefusal(refusal, reply, troubles);
    if (refusal !== undefined) observer?.refused(refusal.reason);
    return refusal;
  }

  /** Sends again after a failed first attempt. */
  async function resend(
    reply: Reply,
    first: SendRefusal,
    over: AbortSignal,
    settledLate: () => void,
    observer: ReplyObserver | undefined,
  ): Promise<Delivery> {
    let refusal: SendRefusal | undefined = first;
    let remainingMs = maxWaitMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      void refusal.late?.then((outcome) => outcome ?? settledLate());
      const isFull = refusal.reason === 'queue_full';
      const lasts = isFull && notFetching.has(reply.deviceId);
      if (refusal.kind === 'never' || lasts) return { dropped: refusal.reason as DropReason };
      if (refusal.kind !== 'hub') {
        const paused = now();
        await pause(pauseMs * (0.5 + random() / 2), over);
        // While there is no connection to the hub, no reply is dropped (D2).
        if (refusal.kind === 'later') remainingMs -= now() - paused;
        if (refusal.reason === 'unanswered') remainingMs -= answerWithinMs;
      }
      if (stopped || over.aborted) return 'stopped';
      if (remainingMs <= 0) {
        if (isFull) remember(reply.deviceId);
        return { dropped: refusal.reason as DropReason };
      }
      const turn = sendQueue.turn(reply.deviceId, reply.isFailure ?? false, over);
      if (turn !== true) observer?.waits('turn');
      if (!(await turn)) return 'stopped';
      refusal = await attempt(reply, observer);
      if (refusal === undefined) return 'delivered';
    }
  }

  return {
    async send(reply, ended, observer) {
      if (!fits(reply)) return { dropped: 'too_large' };
      const turn = sendQueue.turn(reply.deviceId, reply.isFailure ?? false, ended);
      if (turn !== true) {
        observer?.waits('turn');
        if (!(await turn)) return 'stopped';
      }
      const refusal = await attempt(reply, observer);
      let delivery: Delivery = 'delivered';
      if (refusal !== undefined) {
        const over = new AbortController();
        const stopWaiting = () => over.abort();
        ended?.addEventListener('abort', stopWaiting, { once: true });
        if (ended?.aborted) stopWaiting();
        // The hub may settle a send after its time-out: then it is not sent again.
        let isSettledLate = false;
        const settledLate = () => {
          isSettledLate = true;
          stopWaiting();
        };
        delivery = await resend(reply, refusal, over.signal, settledLate, observer);
        ended?.removeEventListener('abort', stopWaiting);
        if (isSettledLate) delivery = 'delivered';
      }
      if (delivery === 'delivered') notFetching.delete(reply.deviceId);
      return delivery;
    },
    state() {
      const queue = sendQueue.state();
      return { ...queue, waiting: queue.waiting + sleepers.size, notFetching: notFetching.size };
    },
    notFetching: () => notFetching.values(),
    stop() {
      stopped = true;
      sendQueue.close();
      for (const wake of [...sleepers]) wake();
    },
  };
}
