import type { Delivery } from '../hub/replies/sender.ts';
import type { Reply } from '../protocol/c2d.ts';
import type { Span } from '../tracing/span.ts';

/** The span of one reply with all its attempts, by OpenTelemetry's conventions for messaging producers. */
export function beginReplySpan(parent: Span, { kind, deviceId, messageId, correlationId, body }: Reply) {
  const span = parent.child(`send ${kind}`, 'producer', {
    'messaging.system': 'iothub',
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': 'devicebound',
    'messaging.message.id': messageId,
    'messaging.message.conversation_id': correlationId,
    'messaging.message.body.size': Buffer.byteLength(body),
    'svc.device.id': deviceId,
  });
  return {
    /** The hub has not taken it; it may be sent again. */
    refused: (reason: string) => span.event('attempt failed', { 'error.type': reason }),
    end(delivery: Delivery) {
      const type = typeof delivery === 'object' ? delivery.dropped : delivery;
      span.end({}, type === 'delivered' ? undefined : { type });
    },
  };
}
