import rhea from 'rhea';
import { codes, entriesOf, headOf } from '../../events/amqpSections.ts';
import { writeSection } from '../../events/amqpWriter.ts';
import { sectionsOf } from '../../events/decodable.ts';
import { asText, type DeviceMessage, type Message, type SystemProperties } from '../../values/message.ts';
import { Refusal } from '../../values/refusal.ts';
import type { Incoming } from './peer.ts';

/**
 * A message that came, decoded. A body of another kind than bytes or text need not be one that can be decoded at a bounded
 * cost: `sections` has its bytes. Refuses a message with properties that cannot be.
 * @param most values in a batch
 */
export function decodeMessage(bytes: Buffer = Buffer.alloc(0), most?: number): Incoming {
  const { areDecodable, body } = sectionsOf(bytes, most);
  const whole = areDecodable ? decoded(bytes) : undefined;
  const found = whole ?? (body === undefined ? undefined : decoded(bytes.subarray(0, body)));
  const head = found && headOf(bytes);
  if (!found || !head) throw new Refusal('amqp:decode-error', 'The message cannot be decoded.');
  const rest = bytes.subarray(body ?? bytes.length);
  const encoded = { head, rest };
  return Object.assign(found, whole && bytesOf(whole) ? { encoded } : { encoded, sections: rest });
}

/** Undefined when rhea fails. */
function decoded(bytes: Buffer): Incoming | undefined {
  try {
    return rhea.message.decode(bytes) as unknown as Incoming;
  } catch {
    return undefined;
  }
}

/** An AMQP message as the hub's own: text properties and the bytes of the body. Refuses a body that is not binary or text. */
export function fromAmqp(incoming: Incoming): Message {
  const properties: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(incoming.application_properties ?? {})) properties[name] = textOf(value);
  return { system: systemOf(incoming), properties, body: bodyOf(incoming) };
}

// what a device can say of a message where other protocols have a system property
const outputName = 'iothub-outputname';
const annotated = { 'dt-subject': 'subject', 'iothub-interface-id': 'interfaceId' } as const;

/** The same for a message of a device, whose application properties keep their bytes, and whose body may be of any kind. */
export function fromDevice(incoming: Incoming): DeviceMessage {
  const system = systemOf(incoming);
  for (const [name, property] of Object.entries(annotated)) {
    const value: unknown = incoming.message_annotations?.[name];
    if (value !== undefined) system[property] = textOf(value);
  }
  const { [outputName]: output, ...rest } = incoming.application_properties ?? {};
  if (output !== undefined) system.outputName = textOf(output);
  const properties: Record<string, unknown> = Object.assign(Object.create(null), rest);
  const section = incoming.encoded?.head.get(codes.applicationProperties);
  const encodedProperties = section && output !== undefined ? without(outputName, section) : section;
  const { sections } = incoming;
  if (sections) return { system, properties, encodedProperties, body: Buffer.from(sections), isEncoded: true };
  return { system, properties, encodedProperties, body: bodyOf(incoming) };
}

/** The application properties but one. */
const without = (name: string, section: Buffer): Buffer =>
  writeSection(
    codes.applicationProperties,
    entriesOf(section).flatMap(({ key, bytes }) => (key === name ? [] : [bytes])),
  );

/** A property as text. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString();
  if (Buffer.isBuffer(value)) return value.length === 16 ? rhea.uuid_to_string(value) : value.toString('utf8');
  return asText(value);
}

/** The bytes of a body, always a copy, since what rhea gives is a slice of a receive buffer. */
function bodyOf(incoming: Incoming): Buffer {
  const body = bodyIn(incoming);
  if (body === undefined) throw new Refusal('com.microsoft:argument-error', 'The body of a message is binary.');
  return body;
}

/** The same; undefined when it is neither bytes nor text. */
export function bodyIn(incoming: Incoming): Buffer | undefined {
  const bytes = incoming.sections ? undefined : bytesOf(incoming);
  return bytes && Buffer.concat(bytes);
}

/** A data section has `content`: one buffer, or several; a value section is the value itself. */
function bytesOf({ body }: Incoming): readonly Buffer[] | undefined {
  const content = (body as { content?: unknown } | undefined)?.content ?? body;
  if (content === undefined || content === null) return [];
  if (Buffer.isBuffer(content)) return [content];
  if (typeof content === 'string') return [Buffer.from(content)];
  return Array.isArray(content) && content.every(Buffer.isBuffer) ? content : undefined;
}

function systemOf(incoming: Incoming): SystemProperties {
  const system: SystemProperties = {};
  const fields = {
    messageId: incoming.message_id,
    correlationId: incoming.correlation_id,
    userId: Buffer.isBuffer(incoming.user_id) ? incoming.user_id.toString('utf8') : incoming.user_id,
    to: incoming.to,
    contentType: incoming.content_type,
    contentEncoding: incoming.content_encoding,
    expiryTime: incoming.absolute_expiry_time,
    creationTime: incoming.creation_time,
  };
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined && value !== null) system[name as keyof SystemProperties] = textOf(value);
  return system;
}
