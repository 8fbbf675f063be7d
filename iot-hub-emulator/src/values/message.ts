/** The system properties a message can have, in either direction. Times are ISO 8601. */
export interface SystemProperties {
  messageId?: string;
  correlationId?: string;
  userId?: string;
  to?: string;
  contentType?: string;
  contentEncoding?: string;
  expiryTime?: string;
  creationTime?: string;
  subject?: string;
  interfaceId?: string;
  outputName?: string;
}

/** A message as the hub handles it: the body's bytes and text properties. Property bags have no prototype. */
export interface Message {
  system: SystemProperties;
  properties: Record<string, string>;
  body: Buffer;
}

/** A message from a device. Over AMQP its properties can be numbers, booleans and so on; they stay what they are. */
export interface DeviceMessage {
  system: SystemProperties;
  properties: Record<string, unknown>;
  /** The encoded section of these properties, which goes to receivers as it is; absent: they are texts. */
  encodedProperties?: Buffer | undefined;
  body: Buffer;
  /** `body` has the encoded sections of an AMQP body that is not binary, and goes to receivers as it is. */
  isEncoded?: boolean;
}

/** Any value as text: none for an object that has no text. */
export function asText(value: unknown): string {
  try {
    return String(value);
  } catch {
    return '';
  }
}

/** Size of a message as the hub counts it, in bytes: body, system property values, application property names and values. */
export function messageSize({ system, properties, body }: DeviceMessage): number {
  let size = body.length;
  for (const value of Object.values(system)) size += Buffer.byteLength(value);
  for (const name in properties) size += Buffer.byteLength(name) + Buffer.byteLength(asText(properties[name] ?? ''));
  return size;
}
