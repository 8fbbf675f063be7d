import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { Message } from '../values/message.ts';
import { Refusal } from '../values/refusal.ts';
import { clausesOf } from '../values/sentences.ts';
import { newMessage } from './schemas.ts';

/** The message to a device that a body of the admin port describes; it has an id in any case. Refuses a body that describes none. */
export function readMessage(asked: unknown): Message {
  const { success, data, error } = newMessage.safeParse(asked);
  if (!success) {
    const clauses = clausesOf(error.issues, 'the body', (field) => `a message has no field ${field}`);
    throw new Refusal('com.microsoft:argument-error', `That is no message: ${clauses}.`);
  }
  const { body, base64, ack, properties, ...system } = data;
  const bag: Record<string, string> = Object.assign(Object.create(null), properties);
  if (ack !== undefined) bag['iothub-ack'] = ack;
  return { system: { messageId: randomUUID(), ...given(system) }, properties: bag, body: bytesOf(body, base64) };
}

type Given = z.infer<typeof newMessage>;

const bytesOf = (body: Given['body'], base64: Given['base64']): Buffer =>
  base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(base64, 'base64');

const given = (system: Partial<Record<keyof Message['system'], string | undefined>>): Message['system'] =>
  Object.fromEntries(Object.entries(system).filter((field): field is [string, string] => field[1] !== undefined));
