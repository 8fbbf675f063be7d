import { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import type { Client } from 'azure-iothub';
import { writeUuid } from '../../protocol/ids.ts';
import { contentEncoding, contentTypeOf, type Reply } from '../../protocol/reply.ts';
import { Message, translateError } from '../serviceSdk.ts';

/**
 * The first reply goes through `client.send`, which attaches the client's link. While the link is attached and has room, later
 * replies go to it as bytes: without a message object, a retry operation and events of two state machines for each (D147). The
 * link keeps the account of what is not settled, and reports every failure. Replies of the same turn of the event loop are
 * written together: a write through TLS costs as much as all else that a reply needs here (D148).
 */
export function createSendBytes(client: Client) {
  const sendByClient = (reply: Reply) => client.send(reply.deviceId, toMessage(reply)).then(isTaken);
  let turn: Promise<void> | undefined;

  const endOfTurn = () => {
    turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = undefined;
        resolve();
      });
    });
    return turn;
  };

  /** Whether the hub has accepted it; released and modified deliveries resolve, too (SDK trap). @throws the error of the client */
  return async (reply: Reply): Promise<boolean> => {
    const isFirst = turn === undefined && attachedLink(client) === undefined;
    if (isFirst || reply.deviceId === '') return sendByClient(reply);
    const bytes = encode(reply);
    await endOfTurn();
    const link = attachedLink(client);
    if (link === undefined) return sendByClient(reply);
    const { _rheaSender: sender, _pendingMessageDictionary: unsettled } = link;
    watchLink(link);
    const { id } = sender.send(bytes, undefined, plainFormat);
    writeOnce(sender.connection);
    return new Promise((resolve, reject) => {
      unsettled[id] = {
        callback: (error, result) =>
          error ? reject(translateError('the hub has not taken the reply', error)) : resolve(isTaken({ result })),
      };
    });
  };
}

/** AMQP's message format: the bytes are sections of a message. */
const plainFormat = 0;

const isTaken = ({ result }: { result?: unknown }): boolean => Boolean(result);

type Transport = Partial<Pick<Link, '_fsm'>> & { readonly _c2dLink?: Link };

interface Link {
  readonly _fsm: { readonly state: string };
  readonly _rheaSender: Sender;
  readonly _unsentMessageQueue: readonly unknown[];
  /** Sends that are not settled, by the id of the delivery. */
  readonly _pendingMessageDictionary: Record<number, { callback(error?: Error | null, result?: object): void }>;
}

interface Sender {
  readonly connection: {
    /** Over WebSockets only what the library needs of one. */
    readonly socket?: Pick<Writable, 'write'> & Partial<Pick<Writable, 'cork' | 'uncork'>>;
    output(): void;
  };
  /** Listeners of the library itself. */
  readonly observers: EventEmitter;
  sendable(): boolean;
  send(bytes: Buffer, tag: undefined, format: number): { readonly id: number };
  dispatch(event: string, context?: { readonly delivery?: { readonly id: number } }): boolean;
}

/** Undefined when no link can take a message now: then the client sends it itself. */
export function attachedLink(client: Client): Link | undefined {
  const { _fsm, _c2dLink: link }: Transport = Reflect.get(client, '_transport') ?? {};
  if (!link || _fsm?.state !== 'authenticated' || link._fsm.state !== 'attached') return undefined;
  return link._unsentMessageQueue.length === 0 && link._rheaSender.sendable() ? link : undefined;
}

/** Does for accepted deliveries what the link’s state machine would do, and ends the event `settled` here, for which none listens above. */
export function watchLink(link: Link): void {
  const { _rheaSender: sender } = link;
  if (Object.hasOwn(sender, 'dispatch')) return;
  const dispatch = sender.dispatch;
  sender.dispatch = function dispatchOfReplies(this: Sender, event, context) {
    if (event === 'settled') return EventEmitter.prototype.emit.call(this.observers, event, context);
    const id = event === 'accepted' ? context?.delivery?.id : undefined;
    const send = id === undefined ? undefined : link._pendingMessageDictionary[id];
    if (id === undefined || send === undefined) return dispatch.call(this, event, context);
    delete link._pendingMessageDictionary[id];
    send.callback(null, enqueued);
    return true;
  };
}

/** The connection would make, write and time each frame by itself in the next tick. This holds them back until the last one is made. */
export function writeOnce(connection: Sender['connection']): void {
  if (Object.hasOwn(connection, 'output')) return;
  connection.output = () => undefined;
  process.nextTick(() => {
    Reflect.deleteProperty(connection, 'output');
    const { socket } = connection;
    socket?.cork?.();
    connection.output();
    socket?.uncork?.();
  });
}

/** What the link returns for an accepted delivery; callers do not read it. */
const enqueued = {};

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

/*
 * header                  00 53 70  45            no fields
 * properties              00 53 73  d0 size count message-id, user-id, to, subject, reply-to, correlation-id,
 *                                                 content-type, content-encoding
 * application-properties  00 53 74  d1 size count name, value, …; left out without properties
 * data                    00 53 75                the body
 */
const opening = Buffer.from([0x00, 0x53, 0x70, 0x45, 0x00, 0x53, 0x73, 0xd0]);
const propertyCount = 8;
const mapOpening = [0x00, 0x53, 0x74, 0xd1];
const dataOpening = [0x00, 0x53, 0x75];
const absent = 0x40;
const uuid = 0x98;
/** With a length of one byte; that of four bytes is 0x10 more. */
const binary = 0xa0;
const string = 0xa1;
const symbol = 0xa3;

/** Forms of ids that the hub gets as 16 bytes (fact c2d.ids). */
const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const uuidBytes = 17;

const symbols = (...texts: readonly string[]): Buffer =>
  Buffer.concat(texts.map((text) => Buffer.concat([Buffer.from([symbol, text.length]), Buffer.from(text)])));
const endings = {
  'application/json': symbols('application/json', contentEncoding),
  'text/plain': symbols('text/plain', contentEncoding),
} as const;

/** The bytes that the service client makes of `toMessage`, at a fifth of its cost (C1). @throws URIError when the device's id is no text */
export function encode({ body, deviceId, messageId, correlationId, properties }: Reply): Buffer {
  const to = `/devices/${encodeURIComponent(deviceId)}/messages/devicebound`;
  const ending = endings[contentTypeOf({ properties })];
  const listBytes = 4 + sizeOfId(messageId) + sizeOf(to) + 3 + sizeOfId(correlationId) + ending.length;
  let [mapBytes, count] = [4, 0];
  for (const name in properties) {
    mapBytes += sizeOf(name) + sizeOf(properties[name] as string);
    count += 2;
  }
  const mapSection = count > 0 ? mapOpening.length + 4 + mapBytes : 0;
  const bytes = Buffer.allocUnsafe(opening.length + 4 + listBytes + mapSection + dataOpening.length + sizeOf(body));

  opening.copy(bytes);
  let at = writeSizes(bytes, opening.length, listBytes, propertyCount);
  at = writeId(bytes, at, messageId);
  bytes[at++] = absent;
  at = writeText(bytes, at, string, to);
  bytes[at++] = absent;
  bytes[at++] = absent;
  at = writeId(bytes, at, correlationId);
  ending.copy(bytes, at);
  at += ending.length;
  if (count > 0) {
    for (const byte of mapOpening) bytes[at++] = byte;
    at = writeSizes(bytes, at, mapBytes, count);
    for (const name in properties) {
      at = writeText(bytes, at, string, name);
      at = writeText(bytes, at, string, properties[name] as string);
    }
  }
  for (const byte of dataOpening) bytes[at++] = byte;
  writeText(bytes, at, binary, body);
  return bytes;
}

function sizeOf(text: string): number {
  const bytes = Buffer.byteLength(text);
  return bytes > 255 ? 5 + bytes : 2 + bytes;
}

const isUuid = (id: string): boolean => id.length === 36 && uuidText.test(id);

const sizeOfId = (id: string | undefined): number => (!id ? 1 : isUuid(id) ? uuidBytes : sizeOf(id));

function writeSizes(bytes: Buffer, at: number, size: number, count: number): number {
  bytes.writeUInt32BE(size, at);
  return bytes.writeUInt32BE(count, at + 4);
}

function writeText(bytes: Buffer, at: number, type: number, text: string): number {
  const length = Buffer.byteLength(text);
  if (length > 255) {
    bytes[at] = type + 0x10;
    const start = bytes.writeUInt32BE(length, at + 1);
    return start + bytes.write(text, start);
  }
  bytes[at] = type;
  bytes[at + 1] = length;
  return at + 2 + bytes.write(text, at + 2);
}

function writeId(bytes: Buffer, at: number, id: string | undefined): number {
  if (id && !isUuid(id)) return writeText(bytes, at, string, id);
  bytes[at++] = id ? uuid : absent;
  return id ? writeUuid(bytes, at, id) : at;
}
