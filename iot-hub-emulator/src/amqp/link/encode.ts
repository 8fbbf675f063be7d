import rhea, { type Message as AmqpMessage } from 'rhea';
import type { Delivery } from '../../cloudToDevice/deviceQueues.ts';

const { data_section } = rhea.message;
const { wrap_timestamp } = rhea.types;

/** A queued message as an AMQP device gets it. The header counts deliveries before this one. */
export function toAmqp({ message, enqueuedTime, deliveryCount }: Delivery): AmqpMessage {
  const { system, properties, body } = message;
  const encoded: AmqpMessage = {
    delivery_count: deliveryCount - 1,
    message_annotations: { 'iothub-enqueuedtime': wrap_timestamp(enqueuedTime) },
    application_properties: properties,
    body: data_section(body),
  };
  if (system.messageId !== undefined) encoded.message_id = system.messageId;
  if (system.correlationId !== undefined) encoded.correlation_id = system.correlationId;
  if (system.to !== undefined) encoded.to = system.to;
  if (system.contentType !== undefined) encoded.content_type = system.contentType;
  if (system.contentEncoding !== undefined) encoded.content_encoding = system.contentEncoding;
  // rhea counts the letters of a text, not its bytes
  if (system.userId !== undefined) encoded.user_id = Buffer.from(system.userId) as never;
  const expiry = Date.parse(system.expiryTime ?? '');
  if (!Number.isNaN(expiry)) encoded.absolute_expiry_time = new Date(expiry) as never;
  return encoded;
}
