import type { EventPosition } from 'iot-hub-emulator/testing';
import rhea from 'rhea';

/** What the devices of a workload send. All of them know the id and body of the n-th message by arithmetic. */

export type Kind = 'telemetry' | 'update' | 'create';

/** The n-th message of a device, counted from 0. */
export interface Numbered {
  readonly kind: Kind;
  readonly device: number;
  readonly nth: number;
  /** Of 60 bytes or so, instead of 1 KiB. */
  readonly isSmall?: boolean;
}

export const deviceId = (device: number): string => `device-${device}`;

const objectId = (device: number): string => `00000000-0000-4000-8000-${String(device).padStart(12, '0')}`;

export const correlationId = ({ kind, device, nth }: Numbered): string => `${kind}-${device}-${nth}`;

export const typeId = 'pump';

const readings = Array.from({ length: 26 }, (_, index) => [`reading${index}`, index * 1.5] as const);

function bodyOf({ kind, device, nth, isSmall }: Numbered): string {
  if (isSmall) return JSON.stringify({ type: typeId, version: nth + 1, properties: { reading: nth * 1.5 } });
  const properties = {
    ...(kind === 'create' && { serial: correlationId({ kind, device, nth }) }),
    ...Object.fromEntries(readings),
    note: '',
  };
  const model = kind === 'create' ? { model: 'svc.device' } : {};
  const body = { ...model, type: typeId, version: nth + 1, properties, variables: { state: 'running' } };
  properties.note = 'x'.repeat(Math.max(0, 1024 - JSON.stringify(body).length));
  return JSON.stringify(body);
}

export const encodeEvent = (message: Numbered, place: EventPosition): Buffer =>
  rhea.message.encode({
    message_annotations: {
      'x-opt-sequence-number': place.sequenceNumber,
      'x-opt-offset': String(place.offset),
      'x-opt-enqueued-time': place.enqueuedTime,
      'iothub-connection-device-id': deviceId(message.device),
      'iothub-message-source': 'Telemetry',
    },
    application_properties: propertiesOf(message),
    body: rhea.message.data_section(Buffer.from(bodyOf(message))),
  });

function propertiesOf(message: Numbered): Record<string, string> {
  if (message.kind === 'telemetry') return { sensor: 'boiler', unit: 'C' };
  const common = { msgType: 'action', version: '2', correlationId: correlationId(message), ack: 'all' };
  return message.kind === 'update'
    ? { ...common, action: 'model.update', objectId: objectId(message.device) }
    : { ...common, action: 'model.create' };
}
