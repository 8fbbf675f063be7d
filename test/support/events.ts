import type { PartitionLog } from 'iot-hub-emulator/testing';
import rhea from 'rhea';
import { derivedId, eventId, type HubEvent } from '../../src/protocol/event.ts';

interface Given {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly device?: string | undefined;
  readonly sequenceNumber?: number;
  readonly systemProperties?: Readonly<Record<string, unknown>>;
}

/** An event as the hub client hands it over; an object as body becomes JSON. */
export function hubEvent({
  properties = {},
  body = {},
  device = 'd1',
  sequenceNumber = 7,
  systemProperties,
}: Given = {}): HubEvent {
  const raw = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    body: raw,
    properties,
    systemProperties: {
      ...(device === undefined ? {} : { 'iothub-connection-device-id': device }),
      'iothub-message-source': 'Telemetry',
      ...systemProperties,
    },
    ...{ sequenceNumber, offset: String(sequenceNumber * 1000), enqueuedTimeUtc: new Date('2026-01-02T03:04:05.678Z') },
  };
}

/** What an event costs in tests that are not about what bodies cost. */
export const bodyBytes = ({ body }: HubEvent): number => (body as Uint8Array).byteLength;

interface Sending {
  /** Undefined: nobody whom the hub knows. */
  readonly device: string | undefined;
  readonly properties: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Puts a message of a device into a partition of the sandbox's hub, behind everything else and past all connections. */
export function appendEvent(partition: Pick<PartitionLog, 'append'> | undefined, sending: Sending): void {
  const { device, properties, body } = sending;
  partition?.append(({ sequenceNumber, offset, enqueuedTime }) =>
    rhea.message.encode({
      message_annotations: {
        'x-opt-sequence-number': sequenceNumber,
        'x-opt-offset': String(offset),
        'x-opt-enqueued-time': enqueuedTime,
        ...(device !== undefined && { 'iothub-connection-device-id': device }),
        'iothub-message-source': 'Telemetry',
      },
      application_properties: properties,
      body: rhea.message.data_section(body),
    }),
  );
}

/**
 * The key of a mutation of the tables' event (D4).
 * @param call method and path
 * @param answered how many times this very call has been answered before
 */
export const idempotencyKey = (call: string, answered = 0): string =>
  derivedId(eventId(hubEvent(), { hub: 'hub', partition: '0' }, 'd1'), `${call} ${answered}`);

/** What every request of the tables has. */
export const requestProperties = {
  V2: (name: string) => ({
    msgType: 'action',
    action: name,
    version: 2,
    correlationId: 'c-1',
    ack: 'all',
    target: 'edge',
  }),
  V1: (name: string) => ({
    'svc-messagetype': 'platformEvent',
    eventType: name,
    id: 'c-1',
    ack: 'all',
    target: 'edge',
  }),
};
