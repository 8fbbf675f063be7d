import type { Client } from 'azure-iothub';
import type { Log } from '../../log/log.ts';
import type { Troubles } from '../../log/troubles.ts';
import type { Meter } from '../../metrics/meter.ts';
import type { Settings } from '../../settings/config.ts';
import { settleWithinMs } from '../../settings/derived.ts';
import { mostRepliesInFlight } from '../../settings/groups/constants.ts';
import { createRateLimit } from './rateLimit.ts';
import { createSender, type Sender } from './sender.ts';
import { createSendQueue } from './sendQueue.ts';
import { createServiceConnection, type ServiceConnection } from './serviceConnection.ts';

/** Creates the connection and the sender for replies from the settings. */
export function createReplies(
  settings: Settings['replies'],
  newClient: () => Client,
  log: Log,
  troubles: Troubles,
  meter?: Meter,
): { readonly connection: ServiceConnection; readonly sender: Sender } {
  const { sendsPerMinute, maxWaitSeconds } = settings;
  const answerWithinMs = settleWithinMs(maxWaitSeconds);
  const connection = createServiceConnection({ newClient, answerWithinMs, log, troubles });
  const ceiling = sendsPerMinute > 0 ? sendsPerMinute / 60 : Number.POSITIVE_INFINITY;
  const rateLimit = createRateLimit({ ceiling, answerWithinMs, now: Date.now });
  const sender = createSender({
    sendOnce: connection.send,
    sendQueue: createSendQueue({ rateLimit, maxInFlight: mostRepliesInFlight }),
    maxWaitMs: maxWaitSeconds * 1000,
    answerWithinMs,
    troubles,
    ...(meter && { meter }),
    random: Math.random,
    now: Date.now,
  });
  return { connection, sender };
}
