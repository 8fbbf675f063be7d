import type { Delivery, ReplyObserver } from '../hub/replies/sender.ts';
import type { Reply } from '../protocol/c2d.ts';
import { beginStep, type Steps } from '../tap/steps.ts';

/** A reply as a step of its message, for operators. */
export function beginReplyStep(
  steps: Steps | undefined,
  reply: Reply,
): ReplyObserver & { end(delivery: Delivery): void } {
  const { kind, deviceId: to, messageId, correlationId, properties, body } = reply;
  const step = beginStep(steps, 'reply', kind, to);
  const tell = steps?.tell;
  return {
    waits(what) {
      step.waitsFor = what;
      if (what === 'turn') tell?.('reply waits', { kind, to, for: 'its turn' });
    },
    refused(reason) {
      step.waitsFor = reason;
      tell?.('refused', { kind, to, reason });
    },
    end(delivery) {
      steps?.open.delete(step);
      if (tell === undefined) return;
      const outcome = typeof delivery === 'string' ? delivery : `dropped: ${delivery.dropped}`;
      const ms = Math.round(performance.now() - step.since);
      const bytes = Buffer.byteLength(body);
      tell('reply', { kind, to, outcome, ms, messageId, correlationId, properties, bytes }, { body });
    },
  };
}
