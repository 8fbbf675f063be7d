import { within } from '../../concurrency/waiting.ts';
import { diagnoseService, isRefusal } from '../../observing/diagnosis.ts';
import type { Troubles } from '../../observing/log.ts';
import type { Reply } from '../../protocol/reply.ts';
import { mostRepliesInFlight } from '../../settings/constants.ts';
import { settleWithinMs } from '../../settings/derived.ts';
import type { Client } from '../serviceSdk.ts';
import { createSender, type SenderOptions } from './sender.ts';
import { type SendRefusal, unreachable } from './sendFailure.ts';
import { createRateLimit, createSendQueue } from './sendQueue.ts';
import { type ClientOptions, openServiceClient, type ServiceClient } from './serviceClient.ts';

export type Replies = ReturnType<typeof createReplies>;

interface ReplyOptions
  extends Omit<ConnectionOptions, 'answerWithinMs'>,
    Omit<SenderOptions, 'sendOnce' | 'sendQueue' | 'maxWaitMs' | 'answerWithinMs'> {
  readonly sendsPerMinute: number;
  /** A reply that the hub refuses for now is sent again for this time (C4). */
  readonly maxWaitSeconds: number;
}

export function createReplies({ sendsPerMinute, maxWaitSeconds, ...options }: ReplyOptions) {
  const answerWithinMs = settleWithinMs(maxWaitSeconds);
  const connection = createServiceConnection({ ...options, answerWithinMs });
  const ceiling = sendsPerMinute > 0 ? sendsPerMinute / 60 : Number.POSITIVE_INFINITY;
  const sendQueue = createSendQueue(createRateLimit(ceiling, answerWithinMs), mostRepliesInFlight);
  const maxWaitMs = maxWaitSeconds * 1000;
  const sender = createSender({ ...options, sendOnce: connection.send, sendQueue, maxWaitMs, answerWithinMs });
  return {
    connection,
    sender,
    /** For an operator: why replies can't be sent at this moment; empty when they can. */
    missing: (): string[] => (connection.isOpen() ? [] : ['the hub’s service endpoint']),
    async close() {
      sender.stop();
      await connection.close();
    },
  };
}

interface ConnectionOptions extends Pick<ClientOptions, 'answerWithinMs' | 'log'> {
  readonly newClient: () => Client;
  /** How the clients get in, for what the log says; default a connection string. */
  readonly isByIdentity?: boolean | undefined;
  readonly refused?: (() => void) | undefined;
  readonly troubles: Troubles;
}

/** Before the next client, by the use of the last one: the hub throttles repeated connects for ten seconds (fact c2d.links). */
const pauseMs = { good: 0, none: 2_000, refused: 10_000 };
const openAgainMs = 2_000;
/** The hub ends an unused link or connection after a minute or more. A connection that ends sooner has failed. */
const idleMs = 30_000;
const closeWithinMs = 2_000;
const source = 'service endpoint';

/** The connection to the hub's service endpoint; replaced when it is lost or old, not because of one reply (C4). */
export function createServiceConnection(options: ConnectionOptions) {
  const { newClient, answerWithinMs, isByIdentity, refused, log, troubles } = options;
  let current: ServiceClient | undefined;
  let wasEverOpen = false;
  let isWanted = false;
  let notBefore = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Opens a new client if necessary; undefined while it is too early for that. */
  function usable(): ServiceClient | undefined {
    if (current?.isWorn()) replace(current);
    if (current !== undefined || performance.now() < notBefore) return current;
    const onEnd = () => lose(next);
    const next: ServiceClient = openServiceClient({ client: newClient(), answerWithinMs, onEnd, log });
    current = next;
    return next;
  }

  /** Sends in flight on the old client may still be answered. */
  function replace(client: ServiceClient) {
    current = undefined;
    client.retire();
  }

  function lose(client: ServiceClient) {
    if (current !== client) return;
    const wasIdle = client.idleForMs() >= idleMs;
    replace(client);
    const pause = wasIdle ? 0 : pauseMs[client.use()];
    notBefore = performance.now() + pause;
    if (isWanted) openAgainIn(wasIdle ? 0 : Math.max(openAgainMs, pause));
  }

  function openAgainIn(ms: number) {
    timer ??= setTimeout(() => {
      timer = undefined;
      const next = usable();
      if (next) void connected(next);
      else openAgainIn(notBefore - performance.now()); // timers fire up to a millisecond early
    }, ms).unref();
  }

  async function connected(client: ServiceClient): Promise<boolean> {
    try {
      await client.connected();
    } catch (error) {
      const message = 'cannot connect to the hub’s service endpoint; replies wait';
      const diagnosis = diagnoseService(error, isByIdentity);
      if (current === client) troubles.raise(source, { level: 'warn', message, diagnosis, still: () => ({}) });
      lose(client);
      if (isRefusal(error)) refused?.();
      return false;
    }
    if (current !== client) return true;
    if (!wasEverOpen) log.info({}, 'connected to the hub’s service endpoint');
    wasEverOpen = true;
    troubles.clear(source, 'the hub’s service endpoint is reached again');
    return true;
  }

  return {
    /** Never rejects. */
    async send(reply: Reply, onSent?: () => void): Promise<SendRefusal | undefined> {
      const used = usable();
      if (used === undefined || !(used.isOpen() || (await connected(used)))) return unreachable;
      return used.send(reply, onSent);
    },
    /** Connects, and connects again whenever the connection is lost, also without replies to send. Never rejects. */
    async open() {
      isWanted = true;
      const first = usable();
      if (first) await connected(first);
    },
    isOpen: () => current?.isOpen() ?? false,
    /** Connects anew: there is another key. Sends in flight are still answered on the old connection (D397). */
    renew() {
      if (current) replace(current);
      notBefore = 0;
      clearTimeout(timer);
      timer = undefined;
      if (isWanted) openAgainIn(0);
    },
    async close() {
      isWanted = false;
      clearTimeout(timer);
      const last = current;
      current = undefined;
      if (last) await within(last.close(), closeWithinMs).catch(() => undefined);
    },
  };
}
