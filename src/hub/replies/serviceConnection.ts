import { Client } from 'azure-iothub';
import type { Log } from '../../log.ts';
import { contentEncoding, contentType, type Reply } from '../../protocol/c2d.ts';
import { TooLate, within } from '../within.ts';
import { type Refusal, refusalOf } from './refusal.ts';
import { Message } from './serviceSdk.ts';

/** The line to the hub's service endpoint, replaced whenever it stops answering. */
export interface ServiceConnection {
  /** Sends one reply once. Answers why the hub did not take it, or undefined when it did. Never rejects. */
  send(reply: Reply): Promise<Refusal | undefined>;
  /** Connects, and connects again whenever the line is lost, also while there is nothing to send. Never rejects. */
  open(): Promise<void>;
  isOpen(): boolean;
  close(): Promise<void>;
}

interface Line {
  readonly client: Client;
  /** Settles when the client is connected. */
  readonly opened: Promise<unknown>;
  /** Settles when the first send is over: many first sends at once would attach a link each (SDK trap). */
  first: Promise<unknown> | undefined;
  readonly replaceAt: number;
  retired: boolean;
}

/** The client stops renewing its one-hour token for good after one failure: leave it before that matters (SDK trap). */
const lineLifeMs = 40 * 60_000;
const openAgainMs = 2_000;

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => -1 };

/**
 * @param newClient a client that is not open yet
 * @param answerWithinMs how long the hub may take to connect, and to settle one reply
 */
export function createServiceConnection(newClient: () => Client, answerWithinMs: number, log: Log): ServiceConnection {
  let current: Line | undefined;
  let open = false;
  let isWanted = false;
  let timer: NodeJS.Timeout | undefined;

  function line(): Line {
    if (current && Date.now() < current.replaceAt) return current;
    if (current) retire(current);
    const client = newClient();
    client.setRetryPolicy(noRetry);
    client.on('disconnect', () => {
      if (current?.client === client) retire(current);
    });
    current = { client, opened: client.open(), first: undefined, replaceAt: Date.now() + lineLifeMs, retired: false };
    return current;
  }

  /** Takes a line out of use; what is under way on it may still be answered. */
  function retire(line: Line) {
    if (line.retired) return;
    line.retired = true;
    if (current === line) {
      current = undefined;
      open = false;
    }
    if (isWanted) openSoon();
    setTimeout(() => void line.client.close().catch(ignoreLateFailure), answerWithinMs).unref();
  }

  function openSoon() {
    timer ??= setTimeout(() => {
      timer = undefined;
      void connected(line());
    }, openAgainMs).unref();
  }

  const ignoreLateFailure = (error: Error) =>
    log.debug({ err: error }, 'a retired hub connection did not close cleanly');

  /** Connected within the limit; the client by itself would try silently for minutes (SDK trap). */
  async function connected(line: Line): Promise<boolean> {
    try {
      await within(line.opened, answerWithinMs);
      if (!open) log.info('connected to the hub’s service endpoint');
      open = true;
      return true;
    } catch (error) {
      log.warn({ err: error }, 'cannot connect to the hub’s service endpoint');
      retire(line);
      return false;
    }
  }

  async function attempt(line: Line, reply: Reply): Promise<Refusal | undefined> {
    try {
      const answer = await within(line.client.send(reply.deviceId, toMessage(reply)), answerWithinMs);
      // Released and modified deliveries resolve too, without a result (SDK trap).
      return answer.result ? undefined : { kind: 'later', reason: 'not_taken' };
    } catch (error) {
      if (error instanceof TooLate) {
        log.warn({ device: reply.deviceId }, 'the hub left a reply unanswered; replacing the connection');
        retire(line);
        return { kind: 'later', reason: 'unanswered' };
      }
      const refusal = refusalOf(error as Error);
      if (refusal.kind === 'connection') retire(line);
      return refusal;
    }
  }

  return {
    async send(reply) {
      const used = line();
      if (!(await connected(used))) return { kind: 'connection', reason: 'hub_unavailable' };
      if (used.first !== undefined) {
        await used.first;
        return attempt(used, reply);
      }
      const sending = attempt(used, reply);
      used.first = sending;
      return sending;
    },
    async open() {
      isWanted = true;
      await connected(line());
    },
    isOpen: () => open,
    async close() {
      isWanted = false;
      clearTimeout(timer);
      const last = current;
      current = undefined;
      open = false;
      if (last) await within(last.client.close(), 2_000).catch(ignoreLateFailure);
    },
  };
}

export const newServiceClient = (connectionString: string): Client => Client.fromConnectionString(connectionString);

function toMessage({ body, messageId, correlationId, properties }: Reply): Message {
  const message = new Message(body);
  message.messageId = messageId;
  if (correlationId !== undefined) message.correlationId = correlationId;
  message.contentType = contentType;
  message.contentEncoding = contentEncoding;
  for (const [name, value] of Object.entries(properties)) message.properties.add(name, value);
  return message;
}
