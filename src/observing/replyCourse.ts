import type { Reply } from '../protocol/reply.ts';
import type { Delivery, RefusalReason } from '../protocol/vocabulary.ts';
import type { Attributes } from '../tracing/span.ts';
import { beginStep, type Course } from './course.ts';

/** One reply with all its attempts: a step of its message, a span, and what followers are told. */
export interface ReplyCourse {
  /** It waits for its `turn` to be sent, or for the `hub` to take it. */
  waits(what: 'turn' | 'hub'): void;
  /** The hub has not taken it; it may be sent again. */
  refused(reason: RefusalReason): void;
  /** It waits for the full queue of its device. */
  sleeps(): void;
  ended(delivery: Delivery): void;
}

/** @param settled called at the end */
export function beginReply(course: Course, reply: Reply, settled: (delivery: Delivery) => void): ReplyCourse {
  const { kind, deviceId: to, messageId, correlationId, properties, body } = reply;
  const { publish } = course;
  const step = beginStep(course, 'reply', kind, to);
  const span = course.span?.child(`send ${kind}`, 'producer', replyAttributes(reply));

  return {
    waits(what) {
      step.waitsFor = what;
      if (what === 'turn') publish?.('reply waits', { kind, to, for: 'its turn' });
    },
    refused(reason) {
      step.waitsFor = reason;
      publish?.('refused', { kind, to, reason });
      span?.event('attempt failed', { 'error.type': reason });
    },
    sleeps() {
      const isBehind = step.waitsFor !== 'queue_full';
      step.waitsFor = 'queue_full';
      if (isBehind) publish?.('reply waits', { kind, to, for: 'earlier replies to the device, whose queue is full' });
    },
    ended(delivery) {
      course.open.delete(step);
      const type = typeof delivery === 'object' ? delivery.dropped : delivery;
      if (publish !== undefined) {
        const outcome = typeof delivery === 'object' ? `dropped: ${type}` : type;
        const ms = Math.round(performance.now() - step.since);
        const bytes = Buffer.byteLength(body);
        publish('reply', { kind, to, outcome, ms, messageId, correlationId, properties, bytes }, { body });
      }
      span?.end({}, type === 'delivered' ? undefined : { type });
      settled(delivery);
    },
  };
}

/** By OpenTelemetry's conventions for messaging producers. */
const replyAttributes = ({ deviceId, messageId, correlationId, body }: Reply): Attributes => ({
  'messaging.system': 'iothub',
  'messaging.operation.name': 'send',
  'messaging.operation.type': 'send',
  'messaging.destination.name': 'devicebound',
  'messaging.message.id': messageId,
  'messaging.message.conversation_id': correlationId,
  'messaging.message.body.size': Buffer.byteLength(body),
  'svc.device.id': deviceId,
});
