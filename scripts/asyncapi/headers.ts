import { z } from 'zod';
import type { Card } from '../../src/card/card.ts';
import { contentEncodings } from '../../src/protocol/body.ts';
import { ackNames, commonProperties } from '../../src/protocol/envelope.ts';
import type { Generation } from '../../src/protocol/event.ts';
import { target as anyTarget, text } from '../../src/protocol/fields.ts';
import { messageLimits } from '../../src/settings/constants.ts';
import { named, type Schema } from './schemas.ts';

/** The application properties of requests and acknowledgements. */

/** One of these texts, in upper or lower case. */
function anyCase(texts: readonly string[]) {
  const patterns = texts.map((one) => one.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`));
  return z.string().regex(new RegExp(`^(${patterns.join('|')})$`));
}

const ack = named('ack', anyCase(ackNames), {
  description:
    'When the device wants an acknowledgement: `none` (default), `positive` (of a success), `negative` (of a failure), `all`; `full` is the same as `all`. In upper or lower case.',
});
const contentEncoding = named('contentEncoding', anyCase(contentEncodings('V2')), {
  description:
    'How the body is encoded; compressed data may be sent as it is or as base64 text. In upper or lower case.',
});
const uncompressed = named('uncompressed', anyCase(contentEncodings('V1')), {
  description: 'The body of an event is never compressed. In upper or lower case.',
});
const timestamp = named('timestamp', z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), {
  description: 'When the acknowledgement was made; UTC.',
});

const traceparent = z.string().optional();

export function requestHeaders({ generation, name, headers }: Card): z.ZodObject {
  const common = commonProperties(generation, messageLimits).shape;
  return generation === 'V2'
    ? z.object({
        msgType: z.literal('action'),
        ...common,
        action: z.literal(name),
        ack: ack.optional(),
        'content-encoding': contentEncoding.optional(),
        traceparent,
        ...headers.shape,
      })
    : z.object({
        msgType: z.never().optional(),
        'svc-messagetype': z.literal('platformEvent'),
        ...common,
        eventType: z.literal(name),
        id: z.string().optional(),
        ack: ack.optional(),
        'content-encoding': uncompressed.optional(),
        traceparent,
        ...headers.shape,
      });
}

/**
 * @param name schema of the action or event type
 * @param own what this message has beyond its generation
 */
export function acknowledgementHeaders(
  generation: Generation,
  name: z.ZodType,
  success: boolean,
  own: z.ZodRawShape = {},
): z.ZodObject {
  const target = (success ? anyTarget : z.string()).min(1).optional(); // a refused request may have named anything
  return generation === 'V2'
    ? z.object({
        msgType: z.literal('ack'),
        action: name,
        version: z.literal('2'),
        correlationId: success ? text : text.optional(),
        target,
        timestamp,
        ...own,
      })
    : z.object({ 'svc-messagetype': z.literal('platformEventAck'), eventType: name, id: text, target, ...own });
}

/** What is to be said of some properties. */
export const meanings: Readonly<Record<string, string>> = {
  correlationId: 'Copied unchanged into the acknowledgement.',
  id: 'Correlation id, copied unchanged into the acknowledgement and the notifications; generated when absent.',
  target:
    'Path of the device for which the replies are meant, copied unchanged; a reply has none when it is absent or empty.',
  timeout: `Bound on the processing of the message in whole seconds, ${messageLimits.defaultTimeoutSeconds} if absent, ${messageLimits.maxTimeoutSeconds} at most.`,
  owner: 'Connectivity path of the owner; absent: the device itself.',
  parent: 'Connectivity path of the parent of the identity; absent: the device itself.',
  context: 'User context data of the request, if it has any; copied unchanged into the acknowledgement.',
  traceparent: 'W3C trace context.',
};

/** The headers with a sentence for each property that needs one. */
export function explained(headers: Schema): Schema {
  const properties = Object.entries(headers['properties'] ?? {}).map(([name, schema]: [string, Schema]) => {
    const description = meanings[name];
    if (description === undefined) return [name, schema];
    return [name, '$ref' in schema ? { description, allOf: [schema] } : { description, ...schema }];
  });
  return { ...headers, properties: Object.fromEntries(properties) };
}
