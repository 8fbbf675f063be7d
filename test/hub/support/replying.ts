import { createGate } from '../../../src/hub/replies/gate.ts';
import { createPace } from '../../../src/hub/replies/pace.ts';
import { createSender } from '../../../src/hub/replies/sender.ts';
import { createLog } from '../../../src/log.ts';
import type { Reply } from '../../../src/protocol/c2d.ts';
import { createTroubles } from '../../../src/troubles.ts';

export const silence = createLog('silent');
export const untold = createTroubles(silence);

type SenderOptions = Parameters<typeof createSender>[0];

interface ReplyingOptions extends Partial<Omit<SenderOptions, 'gate'>> {
  readonly maxInFlight?: number;
  /** Sends a second. */
  readonly ceiling?: number;
}

/** The sender as the service has it, but for what a test says otherwise. */
export function senderOver(sendOnce: SenderOptions['sendOnce'], options: ReplyingOptions = {}) {
  const { maxInFlight = 256, ceiling = Number.POSITIVE_INFINITY, answerWithinMs = 10_000, ...rest } = options;
  const pace = createPace({ ceiling, answerWithinMs, now: Date.now });
  return createSender({
    sendOnce,
    gate: createGate({ pace, maxInFlight }),
    maxWaitMs: 60_000,
    answerWithinMs,
    troubles: untold,
    random: () => 0.5,
    now: Date.now,
    ...rest,
  });
}

export const replyTo = (deviceId: string, body = '{}', more: Partial<Reply> = {}): Reply => ({
  kind: 'acknowledgement',
  deviceId,
  messageId: `m-${body.slice(0, 64)}`,
  correlationId: undefined,
  properties: {},
  body,
  ...more,
});
