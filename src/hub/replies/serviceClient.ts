import type { Client } from 'azure-iothub';
import { within } from '../../concurrency/within.ts';
import type { Reply } from '../../protocol/c2d.ts';
import { toMessage } from './message.ts';
import { createPendingSends } from './pendingSends.ts';
import { type Refusal, refusalOf } from './sendFailure.ts';

/** One client of the hub's service endpoint, from its opening to its end. */
export interface Line {
  /**
   * Connected within the limit; the client by itself would try silently for minutes (SDK trap).
   * @throws TooLate, or what the client says
   */
  connected(): Promise<void>;
  /**
   * Sends one reply once. Answers why the hub did not take it, or undefined when it did. Never rejects.
   * @param onSent called when it leaves, for there may be something to wait for first
   */
  send(reply: Reply, onSent?: () => void): Promise<Refusal | undefined>;
  /** Whether it has been used so long, or for so many sends, that another one should take its place. */
  isWorn(): boolean;
  /**
   * What the hub has made of it: `good` when it has settled a send, `refused` when it has only been too busy, which is also
   * what its refusal of the link looks like.
   */
  use(): 'none' | 'refused' | 'good';
  /** Closes when nobody waits for an answer on it any more. */
  retire(): void;
  /** Closes at once. */
  close(): Promise<void>;
}

interface LineOptions {
  readonly client: Client;
  /** How long the hub may take to connect, and to settle one reply. */
  readonly answerWithinMs: number;
  /** It is of no use any more: the hub has ended it, or settles nothing. */
  onEnd(): void;
  onLateFailure(error: Error): void;
}

/** The client stops renewing its one-hour token for good after one failure: leave it before that matters (SDK trap). */
const lifeMs = 40 * 60_000;

/** Fewer than the 2,048 for which the client has room, however many are in flight (SDK trap). */
const longestSpan = 1_024;

/** Sends wait so long for the first one to attach the link: many at once would attach one each (SDK trap). */
const linkWithinMs = 2_000;

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => -1 };

export function openLine({ client, answerWithinMs, onEnd, onLateFailure }: LineOptions): Line {
  let use: ReturnType<Line['use']> = 'none';
  let attached: Promise<unknown> | undefined;
  let isOpen = false;
  let isRetired = false;
  let isClosed = false;
  const wornAt = Date.now() + lifeMs;
  const pendingSends = createPendingSends({
    answerWithinMs,
    onSilence() {
      onEnd();
      pendingSends.expire();
    },
    onRest: () => isRetired && void close(),
  });
  client.setRetryPolicy(noRetry);
  client.on('disconnect', onEnd);
  const opened = client.open();

  async function close() {
    if (isClosed) return;
    isClosed = true;
    await client.close().catch(onLateFailure);
  }

  async function outcomeOf(reply: Reply): Promise<Refusal | undefined> {
    try {
      const answer = await client.send(reply.deviceId, toMessage(reply));
      use = 'good';
      // Released and modified deliveries resolve too, without a result (SDK trap).
      return answer.result ? undefined : { kind: 'later', reason: 'not_taken' };
    } catch (error) {
      const refusal = refusalOf(error as Error);
      if (isBusy(refusal)) use = use === 'none' ? 'refused' : use;
      else if (refusal.kind !== 'connection') use = 'good';
      if (refusal.kind === 'connection') onEnd();
      return refusal;
    }
  }

  return {
    async connected() {
      if (!isOpen) await within(opened, answerWithinMs);
      isOpen = true;
    },
    async send(reply, onSent) {
      if (attached !== undefined) await attached;
      onSent?.();
      const sent = pendingSends.follow(outcomeOf(reply));
      attached ??= within(sent, linkWithinMs).catch(() => undefined);
      return sent;
    },
    isWorn: () => Date.now() >= wornAt || pendingSends.span() >= longestSpan,
    use: () => use,
    retire() {
      isRetired = true;
      if (!pendingSends.areAwaited()) void close();
    },
    close,
  };
}

const isBusy = ({ reason }: Refusal): boolean => reason === 'throttled' || reason === 'not_taken';
