import { deflateSync, gzipSync } from 'node:zlib';
import type { Intent, Sent } from './history.ts';
import type { Random } from './random.ts';

export interface Message extends Sent {
  readonly properties: Readonly<Record<string, string>>;
  readonly said: unknown;
  readonly body: Buffer;
  /** `body` has the encoded sections of an AMQP body that is not bytes. */
  readonly isEncoded?: true;
}

export interface Draft {
  readonly intent: Intent;
  /** `action` of a V2 message, or `eventType` of a V1 message; absent: not for this service. */
  readonly action?: string;
  readonly eventType?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Travels instead of the body: encoded sections of AMQP that are not bytes. Of a V2 message only. */
  readonly sections?: Buffer;
}

/** Paths of devices behind the one that sends; they are only copied (P4). */
const targets = ['module-0', 'gateway/sensor-7', 'line 4/é'];

/** With the envelope of its generation; some V2 messages are compressed (R6). */
export function sealed(id: string, deviceId: string, draft: Draft, random: Random): Message {
  const { intent, action, eventType } = draft;
  const ack = random.pick(['all', 'all', 'all', 'positive', 'negative', 'none'] as const);
  const text = Buffer.from(JSON.stringify(draft.body));
  const sent = { id, deviceId, ack, intent, said: draft.body };
  const target = random.next() < 0.3 ? { target: random.pick(targets) } : {};
  if (eventType !== undefined) {
    const properties = { 'svc-messagetype': 'platformEvent', eventType, id, ack, ...target, ...draft.properties };
    return { ...sent, properties, body: text };
  }
  if (action === undefined) return { ...sent, properties: {}, body: text };
  const packing = random.next() < 0.15 && !draft.sections ? random.pick(packings) : undefined;
  const properties = {
    ...{ msgType: 'action', action, version: '2', correlationId: id, ack, ...target },
    ...(random.next() < 0.05 && { timeout: '60' }),
    ...(packing && { 'content-encoding': packing.name }),
    ...draft.properties,
  };
  if (draft.sections) return { ...sent, properties, body: draft.sections, isEncoded: true };
  return { ...sent, properties, body: packing ? packing.pack(text) : text };
}

const packings: readonly { readonly name: string; pack(text: Buffer): Buffer }[] = [
  { name: 'gzip', pack: gzipSync },
  { name: 'gzip', pack: (text) => Buffer.from(gzipSync(text).toString('base64')) },
  { name: 'deflate', pack: deflateSync },
];

/** The id of the message that properties are of, or that they answer; empty when they have none. */
export const idOf = (properties: Readonly<Record<string, unknown>>): string =>
  String(properties['correlationId'] ?? properties['id'] ?? '');
