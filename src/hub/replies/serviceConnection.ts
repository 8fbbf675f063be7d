import { Client } from 'azure-iothub';
import { within } from '../../concurrency/within.ts';
import type { Log } from '../../log/log.ts';
import type { Troubles } from '../../log/troubles.ts';
import type { Reply } from '../../protocol/c2d.ts';
import { diagnose } from './diagnosis.ts';
import type { Refusal } from './sendFailure.ts';
import { type Line, openLine } from './serviceClient.ts';

/** The line to the hub's service endpoint, replaced when it is lost or worn; never because of a single reply (C4). */
export interface ServiceConnection {
  /**
   * Sends one reply once. Answers why the hub did not take it, or undefined when it did. Never rejects.
   * @param onSent called when it leaves, for there may be a connection to wait for
   */
  send(reply: Reply, onSent?: () => void): Promise<Refusal | undefined>;
  /** Connects, and connects again whenever the line is lost, also while there is nothing to send. Never rejects. */
  open(): Promise<void>;
  isOpen(): boolean;
  close(): Promise<void>;
}

interface ConnectionOptions {
  /** A client that is not open yet. */
  readonly newClient: () => Client;
  /** How long the hub may take to connect, and to settle one reply. */
  readonly answerWithinMs: number;
  readonly log: Log;
  readonly troubles: Troubles;
}

/** After a line that was good for nothing; the hub throttles those that open one after the other, for ten seconds. */
const pauseMs = { good: 0, none: 2_000, refused: 10_000 };
const openAgainMs = 2_000;
const closeWithinMs = 2_000;

const unreachable: Refusal = { kind: 'connection', reason: 'hub_unavailable' };
const source = 'service endpoint';

export function createServiceConnection(options: ConnectionOptions): ServiceConnection {
  const { newClient, answerWithinMs, log, troubles } = options;
  let current: Line | undefined;
  let open = false;
  let isWanted = false;
  let notBefore = 0;
  let timer: NodeJS.Timeout | undefined;

  /** The line to use; undefined while it is too early for another one. */
  function line(): Line | undefined {
    if (current && !current.isWorn()) return current;
    if (current) replace(current);
    if (performance.now() < notBefore) return undefined;
    const next: Line = openLine({
      client: newClient(),
      answerWithinMs,
      onEnd: () => lose(next),
      onLateFailure: (error) => log.debug({ err: error }, 'a retired hub connection did not close cleanly'),
    });
    current = next;
    return next;
  }

  /** Takes a line out of use; what is under way on it may still be answered. */
  function replace(line: Line) {
    current = undefined;
    open = false;
    line.retire();
  }

  function lose(line: Line) {
    if (current !== line) return;
    replace(line);
    const pause = pauseMs[line.use()];
    notBefore = performance.now() + pause;
    if (isWanted) openAgainIn(Math.max(openAgainMs, pause));
  }

  function openAgainIn(ms: number) {
    timer ??= setTimeout(() => {
      timer = undefined;
      const next = line();
      if (next) void connected(next);
      else openAgainIn(notBefore - performance.now()); // timers fire up to a millisecond early
    }, ms).unref();
  }

  async function connected(line: Line): Promise<boolean> {
    try {
      await line.connected();
    } catch (error) {
      const message = 'cannot connect to the hub’s service endpoint; replies wait';
      if (current === line)
        troubles.met(source, { level: 'warn', message, fields: { ...diagnose(error) }, still: () => ({}) });
      lose(line);
      return false;
    }
    if (current !== line || open) return true;
    open = true;
    log.info('connected to the hub’s service endpoint');
    troubles.over(source, 'the hub’s service endpoint is reached again');
    return true;
  }

  return {
    async send(reply, onSent) {
      const used = line();
      return used && (await connected(used)) ? used.send(reply, onSent) : unreachable;
    },
    async open() {
      isWanted = true;
      const first = line();
      if (first) await connected(first);
    },
    isOpen: () => open,
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

export const newServiceClient = (connectionString: string): Client => Client.fromConnectionString(connectionString);
