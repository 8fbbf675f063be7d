import type { Troubles } from '../../observing/log.ts';
import { type Meter, noMeter } from '../../observing/metrics.ts';
import { fits, type Reply } from '../../protocol/reply.ts';
import type { Delivery, DropReason, RefusalReason } from '../../protocol/vocabulary.ts';
import { reportRefusal } from './replyTroubles.ts';
import type { SendRefusal } from './sendFailure.ts';
import type { SendQueue, SendQueueState } from './sendQueue.ts';

/** A device whose queue in the hub is full. */
export interface FullQueue {
  readonly device: string;
  /** Those that wait for room in it. */
  readonly replies: number;
  /** As `performance.now()`. */
  readonly since: number;
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

/** A reply that is not settled. */
interface OpenReply {
  readonly reply: Reply;
  /** When aborted, its session has ended. */
  readonly ended: AbortSignal | undefined;
  readonly observer: ReplyObserver | undefined;
  /** Once it has had to wait: aborted when that is over, for an `Over`. */
  over: AbortController | undefined;
  isAsleep: boolean;
}

/** The line of a device: one reply at a time is sent to it, in order, and what is known of its queue in the hub (C4). */
interface Line {
  /** Undefined while the queue is not full, as far as is known. */
  fullSince: number | undefined;
  /** Behind the one that is being sent, with what ends their pause. */
  readonly waiting: Map<OpenReply, () => void>;
}

/** Bound of `notFetching`. */
const mostDevices = 100_000;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** For each reply that sleeps: all of them together are tried about a hundred times a second, whatever their number. */
const pauseOfSleeperMs = 10;

export type Sender = ReturnType<typeof createSender>;

/** Sends replies to the hub, those of one device one after the other. */
export function createSender(options: SenderOptions) {
  const { sendOnce, sendQueue, maxWaitMs, answerWithinMs, troubles, random, now, meter = noMeter } = options;
  const recordSend = meter.histogram('messaging.client.operation.duration');
  /** Of devices with an open reply. */
  const lines = new Map<string, Line>();
  let stopped = false;
  /** Replies between two attempts, or behind others of their device. */
  let paused = 0;
  let sleeping = 0;
  /** Those that have had to wait, by what ends their session. */
  const waitingOf = new Map<AbortSignal | undefined, Set<OpenReply>>();
  /** Devices whose queue was full for all of `maxWaitMs`: later replies are tried once, until one is accepted (D19). */
  const notFetching = new Set<string>();

  /** Remembers what the result of a reply shows about its device. */
  function learn(deviceId: string, delivery: Delivery) {
    if (delivery === 'delivered') notFetching.delete(deviceId);
    if (typeof delivery === 'string' || delivery.dropped !== 'queue_full' || notFetching.has(deviceId)) return;
    const [longestKnown] = notFetching;
    if (notFetching.size === mostDevices && longestKnown !== undefined) notFetching.delete(longestKnown);
    notFetching.add(deviceId);
  }

  /**
   * The reply has to wait, at most until its session ends. One listener for all replies of a session: the time to add one grows
   * with their number.
   */
  function waits(one: OpenReply): AbortSignal {
    if (one.over !== undefined) return one.over.signal;
    one.over = new AbortController();
    const { ended } = one;
    const all = waitingOf.get(ended) ?? new Set();
    waitingOf.set(ended, all);
    if (all.size === 0) ended?.addEventListener('abort', endAll);
    all.add(one);
    if (stopped || ended?.aborted) end(one, 'ended');
    return one.over.signal;
  }

  const end = ({ over }: OpenReply, why: Over) => over?.abort(why);

  function endAll({ target }: Event) {
    for (const one of [...(waitingOf.get(target as AbortSignal) ?? [])]) end(one, 'ended');
  }

  function waitsNoMore(one: OpenReply) {
    const { ended } = one;
    wakes(one);
    const all = waitingOf.get(ended);
    all?.delete(one);
    if (all?.size !== 0) return;
    waitingOf.delete(ended);
    ended?.removeEventListener('abort', endAll);
  }

  /**
   * @param begin is given what ends the pause, and returns what is to be done at its end
   * @returns whether it has ended before the waiting was over
   */
  const pause = (one: OpenReply, begin: (go: () => void) => () => void) =>
    new Promise<boolean>((resolve) => {
      const over = waits(one);
      const settle = (isTurn: boolean) => {
        over.removeEventListener('abort', leave);
        atEnd();
        paused -= 1;
        resolve(isTurn);
      };
      const leave = () => settle(false);
      const atEnd = begin(() => settle(true));
      paused += 1;
      over.addEventListener('abort', leave, { once: true });
      if (over.aborted) leave();
    });

  function sleeps(one: OpenReply) {
    if (one.isAsleep) return;
    one.isAsleep = true;
    sleeping += 1;
    one.observer?.sleeps(() => end(one, 'given up'));
  }

  function wakes(one: OpenReply) {
    if (one.isAsleep) sleeping -= 1;
    one.isAsleep = false;
  }

  /** Waits until the replies before it have left the line; false when the waiting was ended. */
  function enterBehind(one: OpenReply, { fullSince, waiting }: Line): Promise<boolean> {
    one.observer?.waits('turn');
    if (fullSince !== undefined && !waits(one).aborted) sleeps(one);
    return pause(one, (go) => {
      waiting.set(one, go);
      return () => waiting.delete(one);
    });
  }

  function leaveLine(deviceId: string) {
    const [next] = lines.get(deviceId)?.waiting.values() ?? [];
    if (next === undefined) lines.delete(deviceId);
    else next();
  }

  /** What the hub has said of the queue of a device. */
  function found(deviceId: string, isFull: boolean) {
    const line = lines.get(deviceId);
    if (line === undefined || isFull === (line.fullSince !== undefined)) return;
    line.fullSince = isFull ? now() : undefined;
    if (isFull) for (const one of line.waiting.keys()) sleeps(one);
  }

  function turnOf({ reply, ended, observer, over, isAsleep }: OpenReply) {
    const { deviceId, isFailure } = reply;
    const isFull = lines.get(deviceId)?.fullSince !== undefined || notFetching.has(deviceId);
    const turn = sendQueue.turn(deviceId, isFull ? 'full' : isFailure ? 'failure' : 'usual', over?.signal ?? ended);
    if (turn !== true && !isAsleep) observer?.waits('turn');
    return turn;
  }

  async function attempt({ reply, observer }: OpenReply): Promise<SendRefusal | undefined> {
    observer?.waits('hub');
    let began = now();
    const refusal = await sendOnce(reply, () => {
      began = now(); // the time to connect is no sign of the hub's rate
    });
    sendQueue.settled(began, refusal);
    recordSend((now() - began) / 1000, refusal?.reason ?? '');
    reportRefusal(refusal, reply, troubles);
    if (refusal !== undefined) observer?.refused(refusal.reason);
    if (refusal === undefined || refusal.reason === 'queue_full') found(reply.deviceId, refusal !== undefined);
    return refusal;
  }

  /** Sends the first in the line of its device, again and again while the hub may still take it. */
  async function untilSettled(one: OpenReply): Promise<Delivery> {
    const { deviceId } = one.reply;
    let remainingMs = maxWaitMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const turn = turnOf(one);
      if (turn !== true && !(await turn)) return deliveryAt(one);
      wakes(one);
      const refusal = await attempt(one);
      if (refusal === undefined) return 'delivered';
      const over = waits(one);
      void refusal.late?.then((outcome) => outcome ?? end(one, 'settled late'));
      const dropped = { dropped: refusal.reason as DropReason };
      const isFull = refusal.reason === 'queue_full';
      if (refusal.kind === 'never' || (isFull && notFetching.has(deviceId))) return dropped;
      if (isFull) sleeps(one);
      if (refusal.kind !== 'hub') {
        const pausedAt = now();
        const ms = (isFull ? Math.max(pauseMs, sleeping * pauseOfSleeperMs) : pauseMs) * (0.5 + random() / 2);
        await pause(one, (go) => {
          const timer = setTimeout(go, Math.min(ms, Math.max(firstPauseMs, remainingMs)));
          return () => clearTimeout(timer);
        });
        // While there is no connection to the hub, no reply is dropped (D2).
        if (refusal.kind === 'later') remainingMs -= now() - pausedAt;
        if (refusal.reason === 'unanswered') remainingMs -= answerWithinMs;
      }
      if (over.aborted) return deliveryAt(one);
      if (remainingMs <= 0) return dropped;
    }
  }

  /** Sends the reply, and lets it leave the line of its device. */
  async function sendFirst(one: OpenReply): Promise<Delivery> {
    const { deviceId } = one.reply;
    try {
      const settled = await untilSettled(one);
      const delivery = one.over?.signal.reason === 'settled late' ? 'delivered' : settled;
      learn(deviceId, delivery);
      return delivery;
    } finally {
      if (one.over !== undefined) waitsNoMore(one);
      leaveLine(deviceId);
    }
  }

  async function sendBehind(one: OpenReply, line: Line): Promise<Delivery> {
    if (await enterBehind(one, line)) return sendFirst(one);
    waitsNoMore(one);
    return deliveryAt(one);
  }

  return {
    /**
     * Never rejects.
     * @param ended when aborted, the reply waits for no further attempt
     * @param observer told what the reply waits for
     */
    async send(reply: Reply, ended?: AbortSignal, observer?: ReplyObserver): Promise<Delivery> {
      if (!fits(reply)) return { dropped: 'too_large' };
      const one = { reply, ended, observer, over: undefined, isAsleep: false };
      const line = lines.get(reply.deviceId);
      if (line !== undefined) return sendBehind(one, line);
      lines.set(reply.deviceId, { fullSince: undefined, waiting: new Map() });
      return sendFirst(one);
    },
    state(): SenderState {
      const { waiting, ...rest } = sendQueue.state();
      const awake = waiting + paused - sleeping;
      return { ...rest, waiting: awake, sleeping, notFetching: notFetching.size };
    },
    /** Devices whose queues in the hub are full, while replies wait for room in them. */
    fullQueues: (): readonly FullQueue[] =>
      [...lines].flatMap(([device, { fullSince, waiting }]) =>
        fullSince === undefined ? [] : [{ device, replies: 1 + waiting.size, since: fullSince }],
      ),
    /** Devices whose replies are tried only once (D19). */
    notFetching: (): Iterable<string> => notFetching.values(),
    /** Ends all waiting: replies that the hub has not accepted end as `stopped`. */
    stop() {
      stopped = true;
      sendQueue.close();
      for (const all of waitingOf.values()) for (const one of [...all]) end(one, 'ended');
    },
  };
}

/** What becomes of a reply whose waiting is over. */
function deliveryAt({ over }: OpenReply): Delivery {
  if (over?.signal.reason === 'settled late') return 'delivered';
  return over?.signal.reason === 'given up' ? { dropped: 'queue_full' } : 'stopped';
}
