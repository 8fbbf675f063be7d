import { createSender } from '../../../src/hub/replies/sender.ts';
import { createRateLimit, createSendQueue } from '../../../src/hub/replies/sendQueue.ts';
import { createLog, createTroubles } from '../../../src/observing/log.ts';
import type { Reply } from '../../../src/protocol/reply.ts';

export const silence = createLog('silent');
export const untold = createTroubles(silence);

type SenderOptions = Parameters<typeof createSender>[0];

interface ReplyingOptions extends Partial<Omit<SenderOptions, 'sendQueue'>> {
  readonly maxInFlight?: number;
  /** Sends a second. */
  readonly ceiling?: number;
}

/** The sender as the service has it, but for what a test says otherwise. */
export function senderOver(sendOnce: SenderOptions['sendOnce'], options: ReplyingOptions = {}) {
  const { maxInFlight = 256, ceiling = Number.POSITIVE_INFINITY, answerWithinMs = 10_000, ...rest } = options;
  return createSender({
    ...{ sendOnce, sendQueue: createSendQueue(createRateLimit(ceiling, answerWithinMs), maxInFlight) },
    ...{ maxWaitMs: 60_000, answerWithinMs, troubles: untold, random: () => 0.5 },
    ...rest,
  });
}

export const replyTo = (deviceId: string, body = '{}', more: Partial<Reply> = {}): Reply => ({
  ...{ kind: 'acknowledgement', deviceId, messageId: `m-${body.slice(0, 64)}`, correlationId: undefined },
  ...{ properties: {}, body },
  ...more,
});
