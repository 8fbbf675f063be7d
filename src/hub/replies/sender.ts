import type { Troubles } from '../../observing/log.ts';
import { type Meter, noMeter } from '../../observing/metrics.ts';
import { fits, type Reply } from '../../protocol/reply.ts';
import type { Delivery, DropReason, RefusalReason } from '../../protocol/vocabulary.ts';
import { reportRefusal, type SendRefusal } from './sendFailure.ts';
import type { createSendQueue } from './sendQueue.ts';

export interface ReplyObserver {
  /** The reply waits for its `turn` to be sent, or for the `hub` to take it. */
  waits(what: 'turn' | 'hub'): void;
  refused(reason: RefusalReason): void;
  /** It waits for room in the queue of its device, until it waits for the hub again or is settled (C4). @param giveUp drops it at once */
  sleeps(giveUp: () => void): void;
}

export interface SenderOptions {
  /** Sends once and calls `onSent` when the send begins; returns why the hub did not accept the reply. */
  readonly sendOnce: (reply: Reply, onSent: () => void) => Promise<SendRefusal | undefined>;
  readonly sendQueue: ReturnType<typeof createSendQueue>;
  /** How long one reply is sent again while the hub refuses it (C4). */
  readonly maxWaitMs: number;
  /** How long the hub may take to settle one send: an attempt without an answer takes this part of `maxWaitMs`. */
  readonly answerWithinMs: number;
  readonly troubles: Troubles;
  readonly meter?: Meter | undefined;
  /** A number from 0 to 1, for jitter. */
  readonly random?: () => number;
}

interface OpenReply {
  readonly reply: Reply;
  readonly ended: AbortSignal | undefined;
  readonly observer: ReplyObserver | undefined;
  isAsleep: boolean;
  leave: (() => void) | undefined;
  /** Set when it waits no more: it is given up, its session has ended, or the hub has taken it after the time-out. */
  over: Delivery | undefined;
}

/** The line of a device: one reply at a time is sent to it, in order, and what is known of its queue in the hub (C4). */
interface Line {
  /** Undefined while the queue is not full, as far as is known. */
  fullSince: number | undefined;
  /** Behind the one that is being sent, with what ends their pause. */
  readonly waiting: Map<OpenReply, () => void>;
}

const mostDevices = 100_000;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** For each reply that sleeps: all of them together are tried about a hundred times a second, whatever their number. */
const pauseOfSleeperMs = 10;

export type Sender = ReturnType<typeof createSender>;

export function createSender(options: SenderOptions) {
  const { sendOnce, sendQueue, maxWaitMs, answerWithinMs, troubles, meter = noMeter, random = Math.random } = options;
  const recordSend = meter.histogram('messaging.client.operation.duration');
  const lines = new Map<string, Line>();
  let stopped = false;
  /** Replies that wait, by what ends their session. One listener for all of a session: the time to add one grows with their number. */
  const waitingOf = new Map<AbortSignal | undefined, Set<OpenReply>>();
  let sleeping = 0;
  /** Devices whose queue was full for all of `maxWaitMs`: later replies are tried once, until one is accepted (D19). */
  const notFetching = new Set<string>();

  function learn(deviceId: string, delivery: Delivery) {
    if (delivery === 'delivered') notFetching.delete(deviceId);
    if (typeof delivery === 'string' || delivery.dropped !== 'queue_full' || notFetching.has(deviceId)) return;
    const [longestKnown] = notFetching;
    if (notFetching.size === mostDevices && longestKnown !== undefined) notFetching.delete(longestKnown);
    notFetching.add(deviceId);
  }

  const isOver = ({ over, ended }: OpenReply) => over !== undefined || stopped || ended?.aborted === true;

  function end(one: OpenReply, over: Delivery) {
    one.over ??= over;
    one.leave?.();
  }

  function endAll({ target }: Event) {
    for (const one of [...(waitingOf.get(target as AbortSignal) ?? [])]) end(one, 'stopped');
  }

  /** Whether it has ended before the waiting was over. @param begin is given what ends the pause, and returns what is to be done at its end */
  function pause(one: OpenReply, begin: (go: () => void) => () => void): Promise<boolean> {
    if (isOver(one)) return Promise.resolve(false);
    const { ended } = one;
    const all = waitingOf.get(ended) ?? new Set();
    if (all.size === 0) ended?.addEventListener('abort', endAll);
    waitingOf.set(ended, all.add(one));
    return new Promise((resolve) => {
      let atEnd = () => {};
      const settle = (isTurn: boolean) => {
        one.leave = undefined;
        all.delete(one);
        if (all.size === 0) {
          waitingOf.delete(ended);
          ended?.removeEventListener('abort', endAll);
        }
        atEnd();
        resolve(isTurn);
      };
      one.leave = () => settle(false);
      atEnd = begin(() => settle(true));
    });
  }

  function sleeps(one: OpenReply) {
    if (one.isAsleep) return;
    one.isAsleep = true;
    sleeping += 1;
    one.observer?.sleeps(() => end(one, { dropped: 'queue_full' }));
  }

  function wakes(one: OpenReply) {
    if (one.isAsleep) sleeping -= 1;
    one.isAsleep = false;
  }

  /** Waits until the replies before it have left the line; false when the waiting was ended. */
  function enterBehind(one: OpenReply, { fullSince, waiting }: Line): Promise<boolean> {
    one.observer?.waits('turn');
    if (fullSince !== undefined && !isOver(one)) sleeps(one);
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

  function found(deviceId: string, isFull: boolean) {
    const line = lines.get(deviceId);
    if (line === undefined || isFull === (line.fullSince !== undefined)) return;
    line.fullSince = isFull ? performance.now() : undefined;
    if (isFull) for (const one of line.waiting.keys()) sleeps(one);
  }

  function turnOf(one: OpenReply): Promise<boolean> {
    const { deviceId, isFailure } = one.reply;
    if (!one.isAsleep) one.observer?.waits('turn');
    const isFull = lines.get(deviceId)?.fullSince !== undefined || notFetching.has(deviceId);
    return pause(one, (go) => sendQueue.wait(deviceId, isFull ? 'full' : isFailure ? 'failure' : 'usual', go));
  }

  async function attempt({ reply, observer }: OpenReply): Promise<SendRefusal | undefined> {
    observer?.waits('hub');
    let began = performance.now();
    const refusal = await sendOnce(reply, () => {
      began = performance.now(); // the time to connect is no sign of the hub's rate
    });
    sendQueue.settled(began, refusal);
    recordSend((performance.now() - began) / 1000, refusal?.reason ?? '');
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
      if (isOver(one) || !(sendQueue.begin() || (await turnOf(one)))) return one.over ?? 'stopped';
      wakes(one);
      const refusal = await attempt(one);
      if (refusal === undefined) return 'delivered';
      void refusal.late?.then((outcome) => outcome ?? end(one, 'delivered'));
      const dropped = { dropped: refusal.reason as DropReason };
      const isFull = refusal.reason === 'queue_full';
      if (refusal.kind === 'never' || (isFull && notFetching.has(deviceId))) return dropped;
      if (isFull) sleeps(one);
      if (refusal.kind !== 'hub') {
        const pausedAt = performance.now();
        const ms = (isFull ? Math.max(pauseMs, sleeping * pauseOfSleeperMs) : pauseMs) * (0.5 + random() / 2);
        await pause(one, (go) => {
          const timer = setTimeout(go, Math.min(ms, Math.max(firstPauseMs, remainingMs)));
          return () => clearTimeout(timer);
        });
        // While there is no connection to the hub, no reply is dropped (D2).
        if (refusal.kind === 'later') remainingMs -= performance.now() - pausedAt;
        if (refusal.reason === 'unanswered') remainingMs -= answerWithinMs;
      }
      if (remainingMs <= 0 && !isOver(one)) return dropped;
    }
  }

  return {
    /** Never rejects. @param ended when aborted, the reply waits for no further attempt */
    async send(reply: Reply, ended?: AbortSignal, observer?: ReplyObserver): Promise<Delivery> {
      if (!fits(reply)) return { dropped: 'too_large' };
      const { deviceId } = reply;
      const one: OpenReply = { reply, ended, observer, isAsleep: false, leave: undefined, over: undefined };
      const line = lines.get(deviceId);
      if (line === undefined) lines.set(deviceId, { fullSince: undefined, waiting: new Map() });
      else if (!(await enterBehind(one, line))) {
        wakes(one);
        return one.over ?? 'stopped';
      }
      try {
        const settled = await untilSettled(one);
        const delivery = one.over === 'delivered' ? 'delivered' : settled;
        learn(deviceId, delivery);
        return delivery;
      } finally {
        wakes(one);
        leaveLine(deviceId);
      }
    },
    /** Numbers of replies that wait awake, or for room in the full queues of their devices, and of devices that do not fetch (D19). */
    state() {
      const waiting = [...waitingOf.values()].reduce((sum, { size }) => sum + size, 0);
      return { ...sendQueue.state(), waiting: waiting - sleeping, sleeping, notFetching: notFetching.size };
    },
    /** Devices whose queues in the hub are full since then, while replies wait for room in them. */
    fullQueues: () =>
      [...lines].flatMap(([device, { fullSince, waiting }]) =>
        fullSince === undefined ? [] : [{ device, replies: 1 + waiting.size, since: fullSince }],
      ),
    /** Devices whose replies are tried only once (D19). */
    notFetching: (): Iterable<string> => notFetching.values(),
    /** Ends all waiting: replies that the hub has not accepted end as `stopped`. */
    stop() {
      stopped = true;
      sendQueue.close();
      for (const all of waitingOf.values()) for (const one of [...all]) end(one, 'stopped');
    },
  };
}
