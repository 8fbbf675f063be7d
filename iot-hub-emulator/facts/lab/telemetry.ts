import {
  type EventHubConsumerClient,
  type EventPosition,
  earliestEventPosition,
  type PartitionProperties,
  type ReceivedEventData,
} from '@azure/event-hubs';
import device from 'azure-iot-device';
import { NotTried } from './differs.ts';
import type { Lab, Specimen } from './lab.ts';
import { enter } from './reading.ts';
import { within } from './within.ts';

/** What a device of the run has sent, and how the hub delivers it. */
export interface Telemetry {
  readonly specimen: Specimen;
  readonly partition: string;
  /** The device's events, in the order in which they came. */
  readonly events: readonly ReceivedEventData[];
  /** All of the partition meanwhile. */
  readonly all: readonly ReceivedEventData[];
  /** Of the partition, before the first event and after the last. */
  readonly before: PartitionProperties;
  readonly after: PartitionProperties;
}

/** Bodies and ids that show whether they are changed on the way. */
export const sent = {
  bodies: [
    Buffer.from('{ "n": 9007199254740993 }'),
    Buffer.from([0, 0xff, 0x7b, 0x0d, 0x0a]),
    ...['2', '3', '4'].map((text) => Buffer.from(text)),
  ],
  messageId: 'Hub-Facts-1',
  correlationId: '0d2a7f0e-6d7c-4c5e-9b2a-1f6d2d1f9a10',
  contentType: 'application/json',
  contentEncoding: 'utf-8',
  properties: {
    msgType: 'hub facts',
    'Case-And.Dots': 'ä/?#+&=%',
    empty: '',
    'iothub-connection-device-id': 'somebody-else',
  },
} as const;

/** By which its events are recognised, whatever stamps they have. */
const mark = 'run';

/** Messages of one device over MQTT, one after the other, read at the event endpoint. */
export async function telemetry(lab: Lab): Promise<Telemetry> {
  const client = lab.consumer();
  const before = await extentsOf(client);
  const specimen = await lab.specimen();
  const connection = await lab.connected(specimen);
  for (const [index, body] of sent.bodies.entries()) {
    const message = new device.Message(body);
    message.properties.add(mark, lab.run);
    if (index === 0) {
      const { messageId, correlationId, contentType, contentEncoding } = sent;
      Object.assign(message, { messageId, correlationId, contentType, contentEncoding });
      for (const [name, value] of Object.entries(sent.properties)) message.properties.add(name, value);
    }
    await connection.sendEvent(message);
  }

  const isOwn = ({ properties }: ReceivedEventData) => properties?.[mark] === lab.run;
  const readers = before.map((extent) => ({
    extent,
    reader: enter(lab, { partition: extent.partitionId, startPosition: endOf(extent) }),
  }));
  const found = readers.map(async ({ extent, reader }) => {
    const refused = await reader.opened;
    if (refused) throw new NotTried(`partition ${extent.partitionId} cannot be read: ${refused.text}`);
    const all = await reader.until((events) => events.filter(isOwn).length >= sent.bodies.length);
    const { partitionId: partition } = extent;
    return {
      specimen,
      partition,
      all,
      events: all.filter(isOwn),
      before: extent,
      after: await client.getPartitionProperties(partition),
    };
  });
  try {
    const first = Promise.any(found).catch(({ errors }: AggregateError) => Promise.reject(errors[0]));
    return await within('every event that a device has sent', first);
  } finally {
    for (const { reader } of readers) void reader.close().catch(() => undefined);
  }
}

async function extentsOf(client: EventHubConsumerClient): Promise<readonly PartitionProperties[]> {
  const ids = await client.getPartitionIds();
  return Promise.all(ids.map((id) => client.getPartitionProperties(id)));
}

/** Behind the last event that the hub knows of; the earliest where there is none. */
const endOf = ({ isEmpty, lastEnqueuedSequenceNumber: sequenceNumber }: PartitionProperties): EventPosition =>
  isEmpty ? earliestEventPosition : { sequenceNumber, isInclusive: false };
