import type { Client } from 'azure-iothub';
import { within } from '../../concurrency/waiting.ts';
import type { Reply } from '../../protocol/reply.ts';
import { createHandOver } from './handOver.ts';
import { isTokenEnding } from './identityClient.ts';
import { createPendingSends } from './pendingSends.ts';
import { type SendRefusal, sendRefusalOf } from './sendFailure.ts';

/** One client of the hub's service endpoint, used for one connection. */
export interface ServiceClient {
  /**
   * Resolves when connected; the SDK's client alone would retry silently for minutes (SDK trap).
   * @throws TooLate, or the error of the SDK's client
   */
  connected(): Promise<void>;
  /**
   * Sends one reply once. Returns why the hub did not accept it, or undefined when it did (fact c2d.accepted). Never rejects.
   * @param onSent called when the send begins, which may be after a wait for the link
   */
  send(reply: Reply, onSent?: () => void): Promise<SendRefusal | undefined>;
  /** Whether it must be replaced because of its age, or of its unsettled sends. */
  isWorn(): boolean;
  /**
   * `good` when the hub has settled a send; `refused` when it has only answered that it is busy, which is also how it
   * refuses the link.
   */
  use(): 'none' | 'refused' | 'good';
  /** For how long it has had nothing to do since it was connected; 0 while a send is not settled. */
  idleForMs(): number;
  /** Closes when no send waits for an answer. */
  retire(): void;
  /** Closes at once. */
  close(): Promise<void>;
}

interface Options {
  readonly client: Client;
  /** How long the hub may take to connect, and to settle one reply. */
  readonly answerWithinMs: number;
  /** The hub has closed the connection, or settles nothing: the client must be replaced. */
  onEnd(): void;
  onLateFailure(error: Error): void;
}

/** After one failed renewal the SDK's client never renews its one-hour token again: replace it earlier (SDK trap; fact access.renewal). */
const lifeMs = 40 * 60_000;

/** Below what the SDK's client has room for, with a margin for sends in flight (SDK trap). */
const longestSpan = 1_024;

/** Sends wait this long for the first one to attach the link: concurrent ones would each attach a link (SDK trap). */
const linkWithinMs = 2_000;

const closed: SendRefusal = { kind: 'connection', reason: 'hub_unavailable' };

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => -1 };

export function openServiceClient({ client, answerWithinMs, onEnd, onLateFailure }: Options): ServiceClient {
  let use: ReturnType<ServiceClient['use']> = 'none';
  let attached: Promise<unknown> | undefined;
  let isAttached = false;
  let usedAt = Number.POSITIVE_INFINITY;
  let isOpen = false;
  let isRetired = false;
  let isClosed = false;
  const wornAt = performance.now() + lifeMs;
  const pendingSends = createPendingSends({
    answerWithinMs,
    onSilence() {
      onEnd();
      pendingSends.expire();
    },
    onIdle: () => isRetired && void close(),
  });
  client.setRetryPolicy(noRetry);
  client.on('disconnect', onEnd);
  const opened = client.open();
  const handOver = createHandOver(client);

  async function close() {
    if (isClosed) return;
    isClosed = true;
    await client.close().catch(onLateFailure);
  }

  async function outcomeOf(reply: Reply): Promise<SendRefusal | undefined> {
    try {
      const isAccepted = await handOver(reply);
      use = 'good';
      return isAccepted ? undefined : { kind: 'later', reason: 'not_taken' };
    } catch (error) {
      const refusal = sendRefusalOf(error as Error);
      if (isBusy(refusal)) use = use === 'none' ? 'refused' : use;
      else if (refusal.kind !== 'connection') use = 'good';
      if (refusal.kind === 'connection') onEnd();
      return refusal;
    } finally {
      usedAt = performance.now();
    }
  }

  return {
    async connected() {
      if (!isOpen) await within(opened, answerWithinMs);
      if (!isOpen) usedAt = performance.now();
      isOpen = true;
    },
    async send(reply, onSent) {
      if (attached !== undefined && !isAttached) {
        await attached;
        isAttached = true;
      }
      if (isClosed) return closed; // the SDK's client would connect again by itself, and never be closed (SDK trap)
      onSent?.();
      const sent = pendingSends.follow(outcomeOf(reply));
      attached ??= within(sent, linkWithinMs).catch(() => undefined);
      return sent;
    },
    isWorn: () => performance.now() >= wornAt || pendingSends.span() >= longestSpan || isTokenEnding(client),
    use: () => use,
    idleForMs: () => (pendingSends.span() > 0 ? 0 : Math.max(0, performance.now() - usedAt)),
    retire() {
      isRetired = true;
      if (!pendingSends.areAwaited()) void close();
    },
    close,
  };
}

const isBusy = ({ reason }: SendRefusal): boolean => reason === 'throttled' || reason === 'not_taken';
