import { type Message, messageSize, type SystemProperties } from '../values/message.ts';

/** A message in the queue of a device. */
export interface Queued {
  /** The order in which it was queued, among those of all devices. */
  id: string;
  message: Message;
  messageId: string;
  enqueuedTime: number;
  expiresAt: number;
  bytes: number;
}

/** The same as it is kept on disk; the body as base64. */
export interface StoredMessage {
  deviceId: string;
  system: SystemProperties;
  properties: Record<string, string>;
  body: string;
  enqueuedTime: number;
  expiresAt: number;
  deliveryCount: number;
}

export function toStored(queued: Queued, deviceId: string, deliveryCount: number): StoredMessage {
  const { message, enqueuedTime, expiresAt } = queued;
  const { system, properties, body } = message;
  return { deviceId, system, properties, body: body.toString('base64'), enqueuedTime, expiresAt, deliveryCount };
}

export function fromStored(id: string, stored: StoredMessage): Queued {
  const { system, enqueuedTime, expiresAt } = stored;
  const properties = Object.assign(Object.create(null), stored.properties);
  const message = { system, properties, body: Buffer.from(stored.body, 'base64') };
  return { id, message, messageId: system.messageId ?? '', enqueuedTime, expiresAt, bytes: messageSize(message) };
}
