import { type Message, messageSize, type SystemProperties } from '../values/message.ts';
import type { DeliveryHistory } from './queue.ts';

/** A message in the queue of a device. */
export interface QueuedMessage {
  /** The order in which it was queued, among those of all devices. */
  id: string;
  message: Message;
  messageId: string;
  enqueuedTime: number;
  expiresAt: number;
  bytes: number;
}

/** The same as it is stored on disk; the body as base64. */
export interface StoredMessage {
  deviceId: string;
  system: SystemProperties;
  properties: Record<string, string>;
  body: string;
  enqueuedTime: number;
  expiresAt: number;
  /** How often it was abandoned. */
  abandoned?: number;
  handed?: boolean;
}

export function toStored(
  queued: QueuedMessage,
  deviceId: string,
  { abandoned, handed }: DeliveryHistory,
): StoredMessage {
  const { message, enqueuedTime, expiresAt } = queued;
  const { system, properties, body } = message;
  const text = body.toString('base64');
  return { deviceId, system, properties, body: text, enqueuedTime, expiresAt, abandoned, handed };
}

export function fromStored(id: string, stored: StoredMessage): QueuedMessage {
  const { system, enqueuedTime, expiresAt } = stored;
  const properties = Object.assign(Object.create(null), stored.properties);
  const message = { system, properties, body: Buffer.from(stored.body, 'base64') };
  return { id, message, messageId: system.messageId ?? '', enqueuedTime, expiresAt, bytes: messageSize(message) };
}
