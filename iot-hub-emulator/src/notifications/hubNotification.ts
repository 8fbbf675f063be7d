import { randomUUID } from 'node:crypto';
import rhea from 'rhea';
import { hubEnqueuedTime, positionAnnotations } from '../events/deviceEvent.ts';
import type { Events } from '../events/events.ts';
import type { Identity } from '../identity/registry.ts';
import { type JsonObject, writeJson } from '../values/json.ts';

const { wrap_timestamp } = rhea.types;

/** What Azure calls the sources of events besides `Telemetry`, with the schema that their events name. */
const schemas = {
  deviceConnectionStateEvents: 'deviceConnectionStateNotification',
  deviceLifecycleEvents: 'deviceLifecycleNotification',
  twinChangeEvents: 'twinChangeNotification',
} as const;

export type NotificationSource = keyof typeof schemas;
export const notificationSources = Object.keys(schemas) as readonly NotificationSource[];

/** An event of the hub itself, about a device or module. */
export interface HubNotification {
  source: NotificationSource;
  about: Pick<Identity, 'deviceId' | 'moduleId'>;
  opType: string;
  body: JsonObject;
}

/** Append a notice to the partition of its device, as Microsoft's page "IoT Hub non-telemetry event schemas" has it. */
export function appendNotification(
  { source, about, opType, body }: HubNotification,
  hubName: string,
  events: Events,
  at: number,
): void {
  const { deviceId, moduleId } = about;
  const stamped = moduleId !== undefined && source !== 'deviceConnectionStateEvents';
  events.partitionOf(deviceId).append((position) =>
    rhea.message.encode({
      message_annotations: {
        'iothub-connection-device-id': deviceId,
        ...(stamped ? { 'iothub-connection-module-id': moduleId } : {}),
        'iothub-enqueuedtime': wrap_timestamp(hubEnqueuedTime(position)),
        'iothub-message-source': source,
        ...positionAnnotations(position),
      },
      content_encoding: 'utf-8',
      content_type: 'application/json',
      correlation_id: randomUUID(),
      user_id: Buffer.from(hubName) as never,
      application_properties: {
        hubName,
        deviceId,
        ...(moduleId === undefined ? {} : { moduleId }),
        opType,
        'iothub-message-schema': schemas[source],
        operationTimestamp: new Date(at).toISOString().replace('Z', '0000Z'),
      },
      body: rhea.message.data_section(Buffer.from(writeJson(body))),
    }),
  );
}
