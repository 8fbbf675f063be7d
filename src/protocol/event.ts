import { uuidv5 } from './ids.ts';
import { quoted } from './rejection.ts';

export interface HubEvent {
  /** The bytes of the data section; another type for another kind of body; null when that cannot be decoded at a bounded cost (D190). */
  readonly body: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly systemProperties?: Readonly<Record<string, unknown>>;
  readonly sequenceNumber: number;
  readonly offset: string;
  readonly enqueuedTimeUtc: Date;
}

/** The body of an event whose properties cannot be decoded at a bounded cost. Without annotations it has no number, offset and time (D190). */
export const undecodedProperties: unique symbol = Symbol('undecoded properties');

export type Origin = Readonly<Record<'hub' | 'partition', string>>;

export type Generation = 'V2' | 'V1';

/** Devices choose the names of properties. */
export const own = (bag: Readonly<Record<string, unknown>> | undefined, key: string): unknown =>
  bag !== undefined && Object.hasOwn(bag, key) ? bag[key] : undefined;

/** From the properties only; undefined for telemetry, twin and lifecycle events (R2, R3; facts events.source, events.notifications). */
export function classify(event: HubEvent): Generation | undefined {
  const { properties } = event;
  const msgType = own(properties, 'msgType');
  if (msgType !== undefined) return msgType === 'action' && isTelemetry(event) ? 'V2' : undefined;
  if (own(properties, 'svc-messagetype') !== 'platformEvent') return undefined;
  const eventType = own(properties, 'eventType');
  if (typeof eventType === 'string' && eventType.startsWith('Svc.InformationModel.')) return undefined;
  return isTelemetry(event) ? 'V1' : undefined;
}

function isTelemetry(event: HubEvent): boolean {
  const source = own(event.systemProperties, 'iothub-message-source');
  return source === undefined || source === 'Telemetry';
}

export function whyNotOurs(event: HubEvent): string {
  if (!isTelemetry(event)) return 'iothub-message-source is not Telemetry';
  if (own(event.properties, 'msgType') !== undefined) return 'msgType is not action';
  if (own(event.properties, 'svc-messagetype') !== 'platformEvent')
    return 'neither msgType is action, nor svc-messagetype is platformEvent';
  return 'eventType begins with Svc.InformationModel.';
}

/** The device that the hub has authenticated; undefined without the hub's stamp (R1; facts events.device-stamp, events.routed-stamps). */
export function senderOf(event: HubEvent): string | undefined {
  const value = own(event.systemProperties, 'iothub-connection-device-id');
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const derivedIds = 'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a11';

/** A GUID that is the same for each delivery of an event; all derived ids are based on it (A2; fact events.dates). */
export function eventId(event: HubEvent, { hub, partition }: Origin, deviceId: string): string {
  const { sequenceNumber, enqueuedTimeUtc } = event;
  return uuidv5(JSON.stringify([hub, partition, sequenceNumber, enqueuedTimeUtc.getTime(), deviceId]), derivedIds);
}

/** A GUID for an object, a reply or a backend call that results from an event (A2, C1). */
export const derivedId = (id: string, purpose: string): string => uuidv5(purpose, id);

/** A message for this service, attributed to the device that sent it. */
export interface ReceivedMessage {
  readonly event: HubEvent;
  readonly generation: Generation;
  readonly deviceId: string;
  readonly origin: Origin;
  /** Whether it may have been handled before: after a crash, or as a dead letter. */
  readonly redelivered: boolean;
  /** How often it has been parked before; 0 when it comes from the hub. */
  readonly attempts?: number;
}

/** The application properties of a message as text. The object has no prototype, because devices choose the names (R4; fact events.properties). */
export type Properties = Readonly<Record<string, string>>;

/** The hub's limit for the application properties of a message: bytes of UTF-8 of names and values (R7). */
export const maxPropertyBytes = 32_768;

/** In place of a value whose AMQP type has no text, such as `binary` (R4). */
export const textless = (type: string): symbol => Symbol(type);

/** A fault for each textless property, by its name (R4). */
export function textlessFaults(bag: Readonly<Record<string, unknown>>): ReadonlyMap<string, string> {
  const faults = new Map<string, string>();
  for (const name of Object.keys(bag)) {
    const value = bag[name];
    if (typeof value !== 'symbol') continue;
    faults.set(name, `property ${quoted(name)} must have a text; this AMQP ${value.description} has none`);
  }
  return faults;
}

/** The properties that have a text, as text: `2` and `"2"` are equal (R4). */
export function textProperties(bag: Readonly<Record<string, unknown>>): Properties {
  const properties: Record<string, string> = Object.create(null);
  for (const name of Object.keys(bag)) {
    const value = bag[name];
    if (typeof value === 'string') properties[name] = value;
    else if (typeof value === 'number' || typeof value === 'boolean') properties[name] = String(value);
  }
  return properties;
}

export function propertyBytes(properties: Properties): number {
  let bytes = 0;
  for (const name in properties) bytes += Buffer.byteLength(name) + Buffer.byteLength(properties[name] as string);
  return bytes;
}

/** The properties that identify our messages, by their names in lower case (R3). */
const watched = new Map([
  ['msgtype', { name: 'msgType', value: 'action' }],
  ['svc-messagetype', { name: 'svc-messagetype', value: 'platformEvent' }],
]);

/**
 * A misspelt property name because of which a message, or one of its properties, is ignored; for the developer of the device. Reads every
 * name but only two values. @param isOurs whether the message is for this service in spite of it
 */
export function misspellingIn({ properties = {} }: HubEvent, isOurs: boolean): string | undefined {
  for (const name of Object.keys(properties)) {
    if (name.charCodeAt(0) === 0x3f)
      return 'a property name begins with ?, which is then part of the name: leave it out';
    if (isOurs || (name.length !== 7 && name.length !== 15)) continue;
    const meant = watched.get(name.toLowerCase());
    if (meant === undefined) continue;
    const value = properties[name];
    const isSlip = name !== meant.name || value !== meant.value;
    if (isSlip && typeof value === 'string' && value.toLowerCase() === meant.value.toLowerCase())
      return `property ${meant.name} must be spelt like this, and so must its value ${meant.value}, capital letters included`;
  }
  return undefined;
}

/** Without what the client keeps beside it: all a second time, and the chunk of the socket, up to 64 KiB, when the body is less than half of it. */
export function compactEvent(event: HubEvent): HubEvent {
  const { body, properties, systemProperties } = event;
  return {
    body: body instanceof Uint8Array && 2 * body.byteLength < body.buffer.byteLength ? copyOf(body) : body,
    ...(properties && { properties }),
    ...(systemProperties && { systemProperties }),
    sequenceNumber: event.sequenceNumber,
    offset: event.offset,
    enqueuedTimeUtc: event.enqueuedTimeUtc,
  };
}

/** Not in the pool of Node, of which it would keep 8 KiB. */
function copyOf(body: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(body.byteLength);
  copy.set(body);
  return copy;
}

/** Of a message that waits, without its values: its event, and its places in a lane and in the watermark. */
const bareBytes = 400;

/** Memory that a message takes while it waits to begin, in bytes, about. */
export const memoryWhileWaiting = ({ body, properties, systemProperties }: HubEvent): number =>
  bareBytes + memoryOf([body, properties, systemProperties]);

/** A text, an array, an object, or a view of bytes: without what is in it. */
const valueBytes = 40;
/** The place of a value in an array or an object. */
const slotBytes = 8;
/** Of a text; those that are all Latin-1 take half of it. */
const perCharacter = 2;

/** Memory of a value that AMQP has decoded, in bytes, about. @param chunks counted already: a slice keeps the whole chunk of which it is a part */
export function memoryOf(value: unknown, chunks = new Set<ArrayBufferLike>()): number {
  if (typeof value === 'string') return valueBytes + perCharacter * value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let bytes = valueBytes;
  if (value instanceof Uint8Array) {
    if (!chunks.has(value.buffer)) bytes += value.buffer.byteLength;
    chunks.add(value.buffer);
  } else if (Array.isArray(value)) {
    for (const one of value) bytes += slotBytes + memoryOf(one, chunks);
  } else {
    const bag = value as Readonly<Record<string, unknown>>;
    for (const name in bag) bytes += slotBytes + perCharacter * name.length + memoryOf(bag[name], chunks);
  }
  return bytes;
}
