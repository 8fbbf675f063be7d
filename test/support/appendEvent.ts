import rhea from 'rhea';
import type { PartitionLog } from '../../iot-hub-emulator/src/events/partitionLog.ts';

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
