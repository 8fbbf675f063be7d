import { contentEncoding, contentTypeOf, type Reply } from '../../protocol/reply.ts';
import { Message } from './serviceSdk.ts';

/** A reply as the service client sends it (C1; fact c2d.arrives). */
export function toMessage({ body, messageId, correlationId, properties }: Reply): Message {
  const message = new Message(body);
  message.messageId = messageId;
  if (correlationId !== undefined) message.correlationId = correlationId;
  Object.assign(message, { contentType: contentTypeOf({ properties }) }); // the client's type knows JSON only
  message.contentEncoding = contentEncoding;
  for (const [name, value] of Object.entries(properties)) message.properties.add(name, value);
  return message;
}
