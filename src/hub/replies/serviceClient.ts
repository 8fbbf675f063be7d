import type { Client } from 'azure-iothub';
import { endsWithin, within } from '../../concurrency/waiting.ts';
import type { Log } from '../../observing/log.ts';
import type { Reply } from '../../protocol/reply.ts';
import { isTokenEnding, noRetry } from '../serviceSdk.ts';
import { createSendBytes } from './sendBytes.ts';
import { type SendRefusal, sendRefusalOf, unreachable } from './sendFailure.ts';

export interface ClientOptions {
  readonly client: Client;
  /** How long the hub may take to connect, and to settle one reply. */
  readonly answerWithinMs: number;
  /** The hub has closed the connection, or settles nothing: the client must be replaced. */
  onEnd(): void;
  readonly log: Log;
}

/** After one failed renewal the SDK's client never renews its one-hour token again: replace it earlier (SDK trap; fact access.renewal). */
const lifeMs = 40 * 60_000;
/** Below what the SDK's client has room for, with a margin for sends in flight (SDK trap). */
const longestSpan = 1_024;
/** Sends wait this long for the first one to attach the link: concurrent ones would each attach a link (SDK trap). */
const linkWithinMs = 2_000;

export type ServiceClient = ReturnType<typeof openServiceClient>;

export function openServiceClient({ client, answerWithinMs, onEnd, log }: ClientOptions) {
  let use: 'none' | 'refused' | 'good' = 'none';
  let attached: Promise<unknown> | undefined;
  let isAttached = false;
  let usedAt = Number.POSITIVE_INFINITY;
  let isOpen = false;
  let isRetired = false;
  let isClosed = false;
  const wornAt = performance.now() + lifeMs;
  const onSilence = () => {
    onEnd();
    pendingSends.expire();
  };
  const pendingSends = createPendingSends(answerWithinMs, onSilence, () => isRetired && void close());
  client.setRetryPolicy(noRetry);
  client.on('disconnect', onEnd);
  const opened = client.open();
  const sendBytes = createSendBytes(client);

  async function close() {
    if (isClosed) return;
    isClosed = true;
    await client.close().catch((err) => log.debug({ err }, 'a retired hub connection did not close cleanly'));
  }

  async function outcomeOf(reply: Reply): Promise<SendRefusal | undefined> {
    try {
      const isAccepted = await sendBytes(reply);
      use = 'good';
      return isAccepted ? undefined : { kind: 'later', reason: 'not_taken' };
    } catch (error) {
      const refusal = sendRefusalOf(error as Error);
      if (refusal.kind === 'connection') onEnd();
      else if (refusal.reason !== 'throttled' && refusal.reason !== 'not_taken') use = 'good';
      else if (use === 'none') use = 'refused';
      return refusal;
    } finally {
      usedAt = performance.now();
    }
  }

  return {
    /** The SDK's client alone would retry silently for minutes (SDK trap). @throws TooLate, or the error of the SDK's client */
    async connected() {
      await within(opened, answerWithinMs);
      if (!isOpen) usedAt = performance.now();
      isOpen = true;
    },
    /** Why the hub did not accept it (fact c2d.accepted). Never rejects. @param onSent called when the send begins, after a wait for the link */
    async send(reply: Reply, onSent?: () => void): Promise<SendRefusal | undefined> {
      if (attached !== undefined && !isAttached) await attached;
      if (isClosed) return unreachable; // the SDK's client would connect again by itself, and never be closed (SDK trap)
      onSent?.();
      const sent = pendingSends.follow(outcomeOf(reply));
      attached ??= endsWithin(sent, linkWithinMs).then(() => {
        isAttached = true;
      });
      return sent;
    },
    isOpen: () => isOpen,
    /** Whether it must be replaced because of its age, or of its unsettled sends. */
    isWorn: () => performance.now() >= wornAt || pendingSends.span() >= longestSpan || isTokenEnding(client),
    /** `good` when the hub has settled a send; `refused` when it has only said that it is busy, as when it refuses the link. */
    use: () => use,
    /** For how long it has had nothing to do since it was connected; 0 while a send is not settled. */
    idleForMs: () => (pendingSends.span() > 0 ? 0 : Math.max(0, performance.now() - usedAt)),
    /** Closes when no send waits for an answer. */
    retire() {
      isRetired = true;
      if (!pendingSends.areAwaited()) void close();
    },
    close,
  };
}

const looksInTime = 8;

/**
 * The unsettled sends on a link. A hub that throttles settles late, in order, and loses none (fact c2d.rate): so a send's time-out starts
 * again when an earlier one is settled (C4). Time is counted in timer ticks: a pause of this process causes no time-out.
 * @param onSilence no send was settled for twice the time. @param onIdle no caller of `follow` waits any more
 */
export function createPendingSends(answerWithinMs: number, onSilence: () => void, onIdle: () => void) {
  /** In order of sending; `looks`: timer ticks since it was sent, or since an earlier one was settled. */
  const unsettled = new Set<{ readonly number: number; looks: number; expire(): void }>();
  /** Those of them that a caller waits for: not after their time-out. */
  let awaited = 0;
  let sent = 0;
  let lowestSettled = Number.POSITIVE_INFINITY;
  let silentLooks = 0;
  let timer: NodeJS.Timeout | undefined;

  function look() {
    for (const pending of unsettled) {
      pending.looks = pending.number > lowestSettled ? 0 : pending.looks + 1;
      if (pending.looks > looksInTime) pending.expire();
    }
    lowestSettled = Number.POSITIVE_INFINITY;
    silentLooks += 1;
    if (silentLooks > 2 * looksInTime) onSilence();
  }

  return {
    /** The result of the send, or `unanswered` after the time-out; `late` is then its result. Never rejects. */
    follow(send: Promise<SendRefusal | undefined>): Promise<SendRefusal | undefined> {
      const number = sent;
      sent += 1;
      awaited += 1;
      timer ??= setInterval(look, answerWithinMs / looksInTime).unref();
      return new Promise((resolve) => {
        let isAwaited = true;
        const end = (outcome: SendRefusal | undefined) => {
          if (!isAwaited) return;
          isAwaited = false;
          awaited -= 1;
          resolve(outcome);
          if (awaited > 0) return;
          clearInterval(timer);
          timer = undefined;
          onIdle();
        };
        const pending = { number, looks: 0, expire: () => end({ kind: 'later', reason: 'unanswered', late: send }) };
        unsettled.add(pending);
        void send.then((outcome) => {
          silentLooks = 0;
          lowestSettled = Math.min(lowestSettled, number);
          unsettled.delete(pending);
          end(outcome);
        });
      });
    },
    /** Sends since the oldest one that is not settled, included: the client has no more places than so many (SDK trap). */
    span(): number {
      for (const { number } of unsettled) return sent - number;
      return 0;
    },
    areAwaited: () => awaited > 0,
    expire() {
      for (const pending of unsettled) pending.expire();
    },
  };
}
