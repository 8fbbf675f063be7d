import { uuidv5 } from './uuidv5.ts';

/** A device-to-cloud message from the hub's event endpoint. */
export interface HubEvent {
  /**
   * The bytes of the data section; another type when an AMQP sender used another kind of body, and null when that cannot be
   * decoded at a bounded cost (D190).
   */
  readonly body: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly systemProperties?: Readonly<Record<string, unknown>>;
  readonly sequenceNumber: number;
  readonly offset: string;
  readonly enqueuedTimeUtc: Date;
}

/**
 * The body of an event whose properties cannot be decoded at a bounded cost: so it is not known whether it is for this service. If
 * its annotations cannot be decoded either, it has no sequence number, offset and time (D190).
 */
export const undecodedProperties: unique symbol = Symbol('undecoded properties');

/** The source of an event. */
export interface Origin {
  readonly hub: string;
  readonly partition: string;
}

export type Generation = 'V2' | 'V1';

const own = (bag: Readonly<Record<string, unknown>> | undefined, key: string): unknown =>
  bag !== undefined && Object.hasOwn(bag, key) ? bag[key] : undefined;

/**
 * The generation of a message, from its properties only; undefined for telemetry, twin and lifecycle events, which are not
 * for this service (R2, R3; facts events.source, events.notifications).
 */
export function classify(event: HubEvent): Generation | undefined {
  const { properties } = event;
  if (properties === undefined) return undefined;
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

/** Why an event is not for this service, for operators. */
export function whyNotOurs(event: HubEvent): string {
  if (!isTelemetry(event)) return 'iothub-message-source is not Telemetry';
  if (own(event.properties, 'msgType') !== undefined) return 'msgType is not action';
  if (own(event.properties, 'svc-messagetype') !== 'platformEvent') {
    return 'neither msgType is action, nor svc-messagetype is platformEvent';
  }
  return 'eventType begins with Svc.InformationModel.';
}

/**
 * The device that the hub has authenticated; undefined without the hub's stamp (R1; facts events.device-stamp,
 * events.routed-stamps).
 */
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
