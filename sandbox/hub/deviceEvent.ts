import rhea from 'rhea';
import type { DeviceLogin } from './access.ts';
import type { DeviceMessage } from './message.ts';
import type { EventPlace } from './partitionLog.ts';

const { data_section } = rhea.message;
const { wrap_long, wrap_timestamp } = rhea.types;

/**
 * A device's message as the AMQP message that event receivers get. The stamps come from the login alone; what the device
 * wrote can only land among the application properties, the body and the standard properties.
 */
export function encodeDeviceEvent(
  login: DeviceLogin,
  { system, properties, body }: DeviceMessage,
  place: EventPlace,
): Buffer {
  const { identity, authMethod } = login;
  const { deviceId, moduleId } = identity;
  const annotations: Record<string, unknown> = {
    'iothub-connection-device-id': deviceId,
    'iothub-connection-auth-method': authMethod,
    'iothub-connection-auth-generation-id': identity.generationId,
    'iothub-enqueuedtime': wrap_timestamp(place.enqueuedTime),
    'iothub-message-source': 'Telemetry',
    ...placeAnnotations(place),
    'x-opt-partition-key': deviceId,
  };
  if (moduleId !== undefined) annotations['iothub-connection-module-id'] = moduleId;
  if (system.subject !== undefined) annotations['dt-subject'] = system.subject;
  if (system.interfaceId !== undefined) annotations['iothub-interface-id'] = system.interfaceId;
  if (system.outputName !== undefined) annotations['iothub-outputname'] = system.outputName;

  return rhea.message.encode({
    message_annotations: annotations,
    message_id: system.messageId,
    user_id: system.userId === undefined ? undefined : Buffer.from(system.userId),
    to: system.to,
    correlation_id: system.correlationId,
    content_type: system.contentType,
    content_encoding: system.contentEncoding,
    absolute_expiry_time: time(system.expiryTime),
    creation_time: time(system.creationTime),
    application_properties: properties,
    body: data_section(body),
  });
}

/** The annotations that tell a receiver where an event stands in its partition. */
export function placeAnnotations(place: EventPlace): Record<string, unknown> {
  return {
    'x-opt-sequence-number': wrap_long(place.sequenceNumber),
    'x-opt-offset': String(place.offset),
    'x-opt-enqueued-time': wrap_timestamp(place.enqueuedTime),
  };
}

function time(text: string | undefined): Date | undefined {
  const date = new Date(text ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date;
}
