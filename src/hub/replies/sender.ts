import type { Troubles } from '../../log/troubles.ts';
import { type Meter, noMeter } from '../../metrics/meter.ts';
import { fits, type Reply } from '../../protocol/reply.ts';
import type { Delivery, DropReason, RefusalReason } from '../../protocol/vocabulary.ts';
import { createDeviceLines, type FullQueue } from './deviceLines.ts';
import { reportRefusal } from './replyTroubles.ts';
import type { SendRefusal } from './sendFailure.ts';
import type { SendQueue, SendQueueState } from './sendQueue.ts';

/** Sends replies to the hub, those of one device one after the other. */
export interface Sender {
  /**
   * Never rejects.
   * @param ended when aborted, the reply waits for no further attempt
   * @param observer told what the reply waits for
   */
  send(reply: Reply, ended?: AbortSignal, observer?: ReplyObserver): Promise<Delivery>;
  state(): SenderState;
  /** Devices whose queues in the hub are full, while replies wait for room in them. */
  fullQueues(): readonly FullQueue[];
  /** Devices whose replies are tried only once (D19). */
  notFetching(): Iterable<string>;
  /** Ends all waiting: replies that the hub has not accepted end as `stopped`. */
  stop(): void;
}

/** For operators. `waiting` has the replies that wait for another attempt or behind others of their device, too. */
export interface SenderState extends SendQueueState {
  /** Replies that wait for room in the full queues of their devices. */
  readonly sleeping: number;
  /** Devices that do not fetch their replies (D19). */
  readonly notFetching: number;
}

export interface ReplyObserver {
  /** The reply waits for its `turn` to be sent, or for the `hub` to take it. */
  waits(what: 'turn' | 'hub'): void;
  /** The hub has not taken it: called each time. */
  refused(reason: RefusalReason): void;
  /**
   * It waits for room in the full queue of its device, until it waits for the hub again or is settled (C4).
   * @param giveUp drops it at once, as when its time is over
   */
  sleeps(giveUp: () => void): void;
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

/** Why the waiting of a reply ends before the hub has taken it; the hub may take it after the time-out. */
type Over = 'ended' | 'given up' | 'settled late';

/** A reply that has to wait. */
interface WaitingReply {
  /** Aborted when the waiting is over. Its reason is an `Over`. */
  readonly over: AbortSignal;
  end(why: Over): void;
  isAsleep: boolean;
  sleeps(): void;
}

/** Bound of `notFetching`. */
const mostDevices = 100_000;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** For each reply that sleeps: all of them together are tried about a hundred times a second, whatever their number. */
const pauseOfSleeperMs = 10;

export function createSender(options: SenderOptions): Sender {
  const { sendOnce, sendQueue, maxWaitMs, answerWithinMs, troubles, random, now, meter = noMeter } = options;
  const recordSend = meter.histogram('messaging.client.operation.duration');
  const lines = createDeviceLines(now);
  let stopped = false;
  let sleeping = 0;
  /** By what ends their session. */
  const waitingOf = new WeakMap<AbortSignal, Set<WaitingReply>>();
  /** Of replies between two attempts: what begins the next one. */
  const pauses = new Set<() => void>();
  /** Devices whose queue was full for all of `maxWaitMs`: later replies are tried once, until one is accepted (D19). */
  const notFetching = new Set<string>();

  /** Remembers what the result of a reply shows about its device. */
  function learn(deviceId: string, delivery: Delivery) {
    if (delivery === 'delivered') notFetching.delete(deviceId);
    else if (delivery !== 'stopped' && delivery.dropped === 'queue_full') remember(deviceId);
  }

  function remember(deviceId: string) {
    if (notFetching.has(deviceId)) return;
    const [longestKnown] = notFetching;
    if (notFetching.size === mostDevices && longestKnown !== undefined) notFetching.delete(longestKnown);
    notFetching.add(deviceId);
  }

  const pause = (ms: number, over: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wakeUp = () => {
        clearTimeout(timer);
        pauses.delete(wakeUp);
        over.removeEventListener('abort', wakeUp);
        resolve();
      };
      const timer = setTimeout(wakeUp, ms);
      pauses.add(wakeUp);
      over.addEventListener('abort', wakeUp, { once: true });
      if (stopped || over.aborted) wakeUp();
    });

  /** For `send` while the reply has to wait. */
  async function whileWaiting(
    ended: AbortSignal | undefined,
    observer: ReplyObserver | undefined,
    send: (waiting: WaitingReply) => Promise<Delivery>,
  ): Promise<Delivery> {
    const over = new AbortController();
    const waiting: WaitingReply = {
      over: over.signal,
      end: (why) => over.abort(why),
      isAsleep: false,
      sleeps() {
        if (waiting.isAsleep) return;
        waiting.isAsleep = true;
        sleeping += 1;
        observer?.sleeps(() => waiting.end('given up'));
      },
    };
    const leave = ended && endWith(ended, waiting);
    const delivery = await send(waiting);
    wake(waiting);
    leave?.();
    return over.signal.reason === 'settled late' ? 'delivered' : delivery;
  }

  /**
   * Ends the waiting with the session. One listener for all replies of a session: the time to add one grows with their number.
   * @returns lets it leave
   */
  function endWith(ended: AbortSignal, waiting: WaitingReply): () => void {
    if (ended.aborted) waiting.end('ended');
    const all = waitingOf.get(ended) ?? new Set();
    waitingOf.set(ended, all);
    if (all.size === 0) ended.addEventListener('abort', endAll);
    all.add(waiting);
    return () => {
      all.delete(waiting);
      if (all.size === 0) ended.removeEventListener('abort', endAll);
    };
  }

  function endAll({ target }: Event) {
    for (const waiting of [...(waitingOf.get(target as AbortSignal) ?? [])]) waiting.end('ended');
  }

  function wake(waiting: WaitingReply) {
    if (waiting.isAsleep) sleeping -= 1;
    waiting.isAsleep = false;
  }

  function turnOf(reply: Reply, observer: ReplyObserver | undefined, over: AbortSignal | undefined, isAsleep: boolean) {
    const { deviceId, isFailure } = reply;
    const isFull = lines.isFull(deviceId) || notFetching.has(deviceId);
    const turn = sendQueue.turn(deviceId, isFull ? 'full' : isFailure ? 'failure' : 'usual', over);
    if (turn !== true && !isAsleep) observer?.waits('turn');
    return turn;
  }

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
    if (refusal === undefined || refusal.reason === 'queue_full') lines.found(reply.deviceId, refusal !== undefined);
    return refusal;
  }

  /** Sends again after a failed first attempt. */
  async function resend(
    reply: Reply,
    first: SendRefusal,
    waiting: WaitingReply,
    observer: ReplyObserver | undefined,
  ): Promise<Delivery> {
    const { over } = waiting;
    let refusal: SendRefusal | undefined = first;
    let remainingMs = maxWaitMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      void refusal.late?.then((outcome) => outcome ?? waiting.end('settled late'));
      const isFull = refusal.reason === 'queue_full';
      const lasts = isFull && notFetching.has(reply.deviceId);
      if (refusal.kind === 'never' || lasts) return { dropped: refusal.reason as DropReason };
      if (isFull) waiting.sleeps();
      if (refusal.kind !== 'hub') {
        const paused = now();
        const ms = (isFull ? Math.max(pauseMs, sleeping * pauseOfSleeperMs) : pauseMs) * (0.5 + random() / 2);
        await pause(Math.min(ms, Math.max(firstPauseMs, remainingMs)), over);
        // While there is no connection to the hub, no reply is dropped (D2).
        if (refusal.kind === 'later') remainingMs -= now() - paused;
        if (refusal.reason === 'unanswered') remainingMs -= answerWithinMs;
      }
      if (stopped || over.aborted) return deliveryAt(over);
      if (remainingMs <= 0) return { dropped: refusal.reason as DropReason };
      if (!(await turnOf(reply, observer, over, waiting.isAsleep))) return deliveryAt(over);
      wake(waiting);
      refusal = await attempt(reply, observer);
      if (refusal === undefined) return 'delivered';
    }
  }

  async function untilSettled(
    reply: Reply,
    ended: AbortSignal | undefined,
    observer: ReplyObserver | undefined,
    waited: WaitingReply | undefined,
  ): Promise<Delivery> {
    const turn = turnOf(reply, observer, waited?.over ?? ended, waited?.isAsleep ?? false);
    if (turn !== true && !(await turn)) return deliveryAt(waited?.over);
    if (waited) wake(waited);
    const refusal = await attempt(reply, observer);
    if (refusal === undefined) return 'delivered';
    if (waited) return resend(reply, refusal, waited, observer);
    return whileWaiting(ended, observer, (waiting) => resend(reply, refusal, waiting, observer));
  }

  /** Sends the first in the line of its device, and lets it leave. */
  async function sendAlone(
    reply: Reply,
    ended: AbortSignal | undefined,
    observer: ReplyObserver | undefined,
    waited?: WaitingReply,
  ): Promise<Delivery> {
    try {
      const delivery = await untilSettled(reply, ended, observer, waited);
      learn(reply.deviceId, delivery);
      return delivery;
    } finally {
      lines.leave(reply.deviceId);
    }
  }

  const sendBehind = (reply: Reply, ended: AbortSignal | undefined, observer: ReplyObserver | undefined) =>
    whileWaiting(ended, observer, async (waiting) => {
      observer?.waits('turn');
      const isTurn = await lines.enterBehind(reply.deviceId, waiting.over, waiting.sleeps);
      return isTurn ? sendAlone(reply, ended, observer, waiting) : deliveryAt(waiting.over);
    });

  return {
    async send(reply, ended, observer) {
      if (!fits(reply)) return { dropped: 'too_large' };
      return (lines.enter(reply.deviceId) ? sendAlone : sendBehind)(reply, ended, observer);
    },
    state() {
      const { waiting, ...rest } = sendQueue.state();
      const notSent = waiting + pauses.size + lines.waiting();
      return { ...rest, waiting: notSent - sleeping, sleeping, notFetching: notFetching.size };
    },
    fullQueues: lines.full,
    notFetching: () => notFetching.values(),
    stop() {
      stopped = true;
      sendQueue.close();
      lines.close();
      for (const wakeUp of [...pauses]) wakeUp();
    },
  };
}

/** What becomes of a reply whose waiting is over. */
function deliveryAt(over: AbortSignal | undefined): Delivery {
  if (over?.reason === 'settled late') return 'delivered';
  return over?.reason === 'given up' ? { dropped: 'queue_full' } : 'stopped';
}
