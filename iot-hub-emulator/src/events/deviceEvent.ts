import rhea from 'rhea';
import type { DeviceLogin } from '../identity/access.ts';
import type { EventPosition } from '../values/loggedEvent.ts';
import { asText, type DeviceMessage, type SystemProperties } from '../values/message.ts';
import { codes } from './amqpSections.ts';
import { type AmqpWriter, createAmqpWriter } from './amqpWriter.ts';

const { wrap_long, wrap_timestamp } = rhea.types;

const writer = createAmqpWriter();

/**
 * A device's message as the AMQP message that event receivers get. The stamps come from the login alone; what the device
 * wrote can only land among the application properties, the body and the standard properties. The bytes hold until the
 * next event is encoded.
 */
export function encodeDeviceEvent(
  login: DeviceLogin,
  { system, properties, encodedProperties, body, isEncoded }: DeviceMessage,
  position: EventPosition,
): Buffer {
  const { count, bytes } = stampsOf(login);
  const own = ownAnnotations.filter(([key]) => system[key] !== undefined);
  writer.section(codes.messageAnnotations);
  writer.compound('map', 2 * (count + 4 + own.length), () => {
    writer.encoded(bytes);
    writer.symbol('iothub-enqueuedtime');
    writer.timestamp(hubEnqueuedTime(position));
    writePosition(writer, position);
    for (const [key, name] of own) pair(name, system[key] ?? '');
  });

  const last = standardProperties.findLastIndex((property) => property && system[property.key] !== undefined);
  if (last >= 0) {
    writer.section(codes.properties);
    writer.compound('list', last + 1, () => {
      for (const property of standardProperties.slice(0, last + 1)) writeProperty(property, system);
    });
  }

  if (encodedProperties) writer.encoded(encodedProperties);
  else {
    const pairs = Object.entries(properties);
    writer.section(codes.applicationProperties);
    writer.compound('map', 2 * pairs.length, () => {
      for (const [name, value] of pairs) {
        writer.string(name);
        writer.string(asText(value));
      }
    });
  }

  if (isEncoded) writer.encoded(body);
  else {
    writer.section(codes.data);
    writer.binary(body);
  }
  return writer.take();
}

/**
 * When the hub itself took an event in, by its own clock: up to 327 ms before it was in the partition, or up to 11 ms after
 * that. Each event has its own difference.
 */
export function hubEnqueuedTime({ sequenceNumber, enqueuedTime }: EventPosition): number {
  return enqueuedTime + 11 - ((sequenceNumber * 127) % 339);
}

/** Write the annotations that tell a receiver where an event stands in its partition. */
export function writePosition(into: AmqpWriter, { sequenceNumber, offset, enqueuedTime }: EventPosition): void {
  into.symbol('x-opt-sequence-number');
  into.long(sequenceNumber);
  into.symbol('x-opt-offset');
  into.string(String(offset));
  into.symbol('x-opt-enqueued-time');
  into.timestamp(enqueuedTime);
}

/** The names of these annotations. */
export const positionNames = ['x-opt-sequence-number', 'x-opt-offset', 'x-opt-enqueued-time'] as const;

/** The same for a library. */
export function positionAnnotations(position: EventPosition): Record<string, unknown> {
  return {
    'x-opt-sequence-number': wrap_long(position.sequenceNumber),
    'x-opt-offset': String(position.offset),
    'x-opt-enqueued-time': wrap_timestamp(position.enqueuedTime),
  };
}

type Key = keyof SystemProperties;

const ownAnnotations: readonly (readonly [Key, string])[] = [
  ['subject', 'dt-subject'],
  ['interfaceId', 'iothub-interface-id'],
  ['outputName', 'iothub-outputname'],
];

// The list of AMQP's properties section, in its order; those without a key are never set.
const standardProperties: readonly ({ key: Key; as: 'string' | 'binary' | 'symbol' | 'time' } | undefined)[] = [
  { key: 'messageId', as: 'string' },
  { key: 'userId', as: 'binary' },
  { key: 'to', as: 'string' },
  undefined, // subject
  undefined, // reply-to
  { key: 'correlationId', as: 'string' },
  { key: 'contentType', as: 'symbol' },
  { key: 'contentEncoding', as: 'symbol' },
  { key: 'expiryTime', as: 'time' },
  { key: 'creationTime', as: 'time' },
];

function writeProperty(property: (typeof standardProperties)[number], system: SystemProperties): void {
  const value = property && system[property.key];
  if (property === undefined || value === undefined) writer.nothing();
  else if (property.as === 'string') writer.string(value);
  else if (property.as === 'symbol') writer.symbol(value);
  else if (property.as === 'binary') writer.binary(Buffer.from(value));
  else if (Number.isNaN(Date.parse(value))) writer.nothing();
  else writer.timestamp(Date.parse(value));
}

/** The stamps that are the same for every message of a login, encoded. */
interface Stamps {
  count: number;
  bytes: Buffer;
}

const stamps = new WeakMap<DeviceLogin, Stamps>();

function stampsOf(login: DeviceLogin): Stamps {
  const known = stamps.get(login);
  if (known) return known;
  const { identity, authMethod, modelId } = login;
  const { deviceId, moduleId } = identity;
  const pairs = [
    ['iothub-connection-device-id', deviceId],
    ['iothub-connection-auth-method', authMethod],
    ['iothub-connection-auth-generation-id', identity.generationId],
    ['iothub-message-source', 'Telemetry'],
    ...(moduleId === undefined ? [] : [['iothub-connection-module-id', moduleId]]),
    ...(modelId === undefined ? [] : [['dt-dataschema', modelId]]),
  ] as const;
  for (const [name = '', value = ''] of pairs) pair(name, value);
  const created = { count: pairs.length, bytes: Buffer.from(writer.take()) };
  stamps.set(login, created);
  return created;
}

function pair(name: string, value: string): void {
  writer.symbol(name);
  writer.string(value);
}
