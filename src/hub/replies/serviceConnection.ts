import { within } from '../../concurrency/waiting.ts';
import type { ServiceAccess } from '../../identity/access.ts';
import type { Log } from '../../log/log.ts';
import type { Troubles } from '../../log/troubles.ts';
import { diagnoseService, isRefusal } from '../../observing/diagnosis.ts';
import type { Reply } from '../../protocol/reply.ts';
import { clientFor } from './identityClient.ts';
import type { SendRefusal } from './sendFailure.ts';
import { openServiceClient, type ServiceClient } from './serviceClient.ts';
import type { Client } from './serviceSdk.ts';

/** The connection to the hub's service endpoint; replaced when it is lost or old, not because of one reply (C4). */
export interface ServiceConnection {
  /**
   * Sends one reply once. Returns why the hub did not accept it, or undefined when it did. Never rejects.
   * @param onSent called when the send begins, which may be after a wait for the connection
   */
  send(reply: Reply, onSent?: () => void): Promise<SendRefusal | undefined>;
  /** Connects, and connects again whenever the connection is lost, also without replies to send. Never rejects. */
  open(): Promise<void>;
  isOpen(): boolean;
  /** Connects anew: there is another key. Sends in flight are still answered on the old connection (D397). */
  renew(): void;
  close(): Promise<void>;
}

interface ConnectionOptions {
  /** A client that is not open yet. */
  readonly newClient: () => Client;
  /** How long the hub may take to connect, and to settle one reply. */
  readonly answerWithinMs: number;
  /** How the clients get in, for what the log says; default a connection string. */
  readonly isByIdentity?: boolean | undefined;
  /** The hub refuses the key. */
  readonly refused?: (() => void) | undefined;
  readonly log: Log;
  readonly troubles: Troubles;
}

/** Before the next client, by the use of the last one: the hub throttles repeated connects for ten seconds (fact c2d.links). */
const pauseMs = { good: 0, none: 2_000, refused: 10_000 };
const openAgainMs = 2_000;
/** The hub ends an unused link or connection after a minute or more. A connection that ends sooner has failed. */
const idleMs = 30_000;
const closeWithinMs = 2_000;

const unreachable: SendRefusal = { kind: 'connection', reason: 'hub_unavailable' };
const source = 'service endpoint';

export function createServiceConnection(options: ConnectionOptions): ServiceConnection {
  const { newClient, answerWithinMs, isByIdentity, refused, log, troubles } = options;
  let current: ServiceClient | undefined;
  let open = false;
  let wasEverOpen = false;
  let isWanted = false;
  let notBefore = 0;
  let timer: NodeJS.Timeout | undefined;

  /** Opens a new client if necessary; undefined while it is too early for that. */
  function usable(): ServiceClient | undefined {
    if (current && !current.isWorn()) return current;
    if (current) replace(current);
    if (performance.now() < notBefore) return undefined;
    const next: ServiceClient = openServiceClient({
      client: newClient(),
      answerWithinMs,
      onEnd: () => lose(next),
      onLateFailure: (error) => log.debug({ err: error }, 'a retired hub connection did not close cleanly'),
    });
    current = next;
    return next;
  }

  /** Sends in flight on the old client may still be answered. */
  function replace(client: ServiceClient) {
    current = undefined;
    open = false;
    client.retire();
  }

  function lose(client: ServiceClient) {
    if (current !== client) return;
    const wasIdle = open && client.idleForMs() >= idleMs;
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
      if (current === client)
        troubles.raise(source, {
          level: 'warn',
          message,
          diagnosis: diagnoseService(error, isByIdentity),
          still: () => ({}),
        });
      lose(client);
      if (isRefusal(error)) refused?.();
      return false;
    }
    if (current !== client) return true;
    open = true;
    if (!wasEverOpen) log.info({}, 'connected to the hub’s service endpoint');
    wasEverOpen = true;
    troubles.clear(source, 'the hub’s service endpoint is reached again');
    return true;
  }

  return {
    async send(reply, onSent) {
      const used = usable();
      const isUsable = used !== undefined && ((open && used === current) || (await connected(used)));
      return isUsable ? used.send(reply, onSent) : unreachable;
    },
    async open() {
      isWanted = true;
      const first = usable();
      if (first) await connected(first);
    },
    isOpen: () => open,
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
      open = false;
      if (last) await within(last.close(), closeWithinMs).catch(() => undefined);
    },
  };
}

export const newServiceClient = (access: ServiceAccess): Client => clientFor(access);
