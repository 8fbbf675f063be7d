import type { Client } from 'azure-iothub';
import type { Settings } from '../../config.ts';
import type { Log } from '../../log.ts';
import { mostRepliesInFlight } from '../../settings/constants.ts';
import { settleWithinMs } from '../../settings/derived.ts';
import type { Troubles } from '../../troubles.ts';
import { createGate } from './gate.ts';
import { createPace } from './pace.ts';
import { createSender, type Sender } from './sender.ts';
import { createServiceConnection, type ServiceConnection } from './serviceConnection.ts';

/** The way of replies to the hub, as the settings have it. */
export function createReplies(
  settings: Settings['replies'],
  newClient: () => Client,
  log: Log,
  troubles: Troubles,
): { readonly connection: ServiceConnection; readonly sender: Sender } {
  const { sendsPerMinute, maxWaitSeconds } = settings;
  const answerWithinMs = settleWithinMs(maxWaitSeconds);
  const connection = createServiceConnection({ newClient, answerWithinMs, log, troubles });
  const ceiling = sendsPerMinute > 0 ? sendsPerMinute / 60 : Number.POSITIVE_INFINITY;
  const pace = createPace({ ceiling, answerWithinMs, now: Date.now });
  const sender = createSender({
    sendOnce: connection.send,
    gate: createGate({ pace, maxInFlight: mostRepliesInFlight }),
    maxWaitMs: maxWaitSeconds * 1000,
    answerWithinMs,
    troubles,
    random: Math.random,
    now: Date.now,
  });
  return { connection, sender };
}
