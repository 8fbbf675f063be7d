import type { Client } from 'azure-iothub';
import type { Log } from '../../log/log.ts';
import type { Troubles } from '../../log/troubles.ts';
import type { Meter } from '../../metrics/meter.ts';
import type { Settings } from '../../settings/config.ts';
import { mostRepliesInFlight } from '../../settings/constants.ts';
import { settleWithinMs } from '../../settings/derived.ts';
import { createRateLimit } from './rateLimit.ts';
import { createSender, type Sender } from './sender.ts';
import { createSendQueue } from './sendQueue.ts';
import { createServiceConnection, type ServiceConnection } from './serviceConnection.ts';

export interface Replies {
  readonly connection: ServiceConnection;
  readonly sender: Sender;
  /** For an operator: why replies can't be sent at this moment; empty when they can. */
  missing(): string[];
  /** Ends all waiting, then closes the connection. */
  close(): Promise<void>;
}

interface ReplySettings extends Pick<Settings['replies'], 'sendsPerMinute'> {
  /** A reply that the hub refuses for now is sent again for this time (C4). */
  readonly maxWaitSeconds: number;
  /** Of the connection. */
  readonly isByIdentity?: boolean;
  readonly refused?: () => void;
}

/** Creates the connection and the sender for replies from the settings. */
export function createReplies(
  settings: ReplySettings,
  newClient: () => Client,
  log: Log,
  troubles: Troubles,
  meter?: Meter,
): Replies {
  const { sendsPerMinute, maxWaitSeconds, isByIdentity, refused } = settings;
  const answerWithinMs = settleWithinMs(maxWaitSeconds);
  const now = () => performance.now();
  const connection = createServiceConnection({ newClient, answerWithinMs, isByIdentity, refused, log, troubles });
  const ceiling = sendsPerMinute > 0 ? sendsPerMinute / 60 : Number.POSITIVE_INFINITY;
  const rateLimit = createRateLimit({ ceiling, answerWithinMs, now });
  const sendQueue = createSendQueue({ rateLimit, maxInFlight: mostRepliesInFlight });
  const sender = createSender({
    sendOnce: connection.send,
    sendQueue,
    maxWaitMs: maxWaitSeconds * 1000,
    answerWithinMs,
    troubles,
    ...(meter && { meter }),
    random: Math.random,
    now,
  });
  return {
    connection,
    sender,
    missing: () => (connection.isOpen() ? [] : ['the hub’s service endpoint']),
    async close() {
      sender.stop();
      await connection.close();
    },
  };
}
