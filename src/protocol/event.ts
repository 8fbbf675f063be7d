import { v5 as uuidv5 } from 'uuid';

/** A device-to-cloud message as the hub's event endpoint hands it over. */
export interface HubEvent {
  /** The bytes of the data section; anything else when an AMQP sender used another kind of body. */
  readonly body: unknown;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly systemProperties?: Readonly<Record<string, unknown>>;
  readonly sequenceNumber: number;
  readonly offset: string;
  readonly enqueuedTimeUtc: Date;
}

/** Where an event stands in the hub. */
export interface Origin {
  readonly hub: string;
  readonly partition: string;
}

export type Generation = 'V2' | 'V1';

const own = (bag: Readonly<Record<string, unknown>> | undefined, key: string): unknown =>
  bag !== undefined && Object.hasOwn(bag, key) ? bag[key] : undefined;

/**
 * Which of our two generations a message belongs to; undefined for the telemetry, twin and lifecycle events that are
 * not ours. Never looks at the body (R2, R3).
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

/** The device the hub has authenticated; undefined when the hub has put no stamp on the message (R1). */
export function senderOf(event: HubEvent): string | undefined {
  const value = own(event.systemProperties, 'iothub-connection-device-id');
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const derivedIds = 'd3f3b7c6-52a1-5c0e-9c39-6f6f4f2e7a11';

/** A GUID that is the same whenever the hub delivers the same event again; every derived id begins from it (A2). */
export function eventId(event: HubEvent, { hub, partition }: Origin, deviceId: string): string {
  const { sequenceNumber, enqueuedTimeUtc } = event;
  return uuidv5(JSON.stringify([hub, partition, sequenceNumber, enqueuedTimeUtc.getTime(), deviceId]), derivedIds);
}

/** A GUID for one thing that comes of an event: an object, a reply, a call to a backend (A2, C1). */
export const derivedId = (id: string, purpose: string): string => uuidv5(purpose, id);
