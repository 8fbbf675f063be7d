import type { DeviceLogin } from '../identity/access.ts';
import { nameOf } from '../identity/registry.ts';
import { correlationOf } from '../journal/entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { Store } from '../persistence/store.ts';
import type { LoggedEvent } from '../values/loggedEvent.ts';
import { type DeviceMessage, messageSize } from '../values/message.ts';
import { Refusal } from '../values/refusal.ts';
import { encodeDeviceEvent } from './deviceEvent.ts';
import type { EventForm } from './eventForm.ts';
import type { Numbering } from './numbering.ts';
import { createPartitionLog, type PartitionLog } from './partitionLog.ts';

/** Largest device-to-cloud message, in bytes as `messageSize` counts. */
export const maxEventSize = 256 * 1024;

/** The event side of the hub: its partitions, and how messages get in. */
export interface Events {
  readonly partitions: readonly PartitionLog[];
  /** Take in a device's message under the identity it logged in with. Refuses one over 256 KB. */
  accept(login: DeviceLogin, message: DeviceMessage): LoggedEvent;
  /** The partition that a key (a device's id) always lands in. */
  partitionOf(key: string): PartitionLog;
}

/** `count` partitions that keep `retention` bytes each: in memory, and in the store if there is one. */
export function createEvents(options: {
  count: number;
  retention: number;
  journal: Journal;
  store?: Pick<Store, 'events'> | undefined;
  numbering: Numbering;
  /** Changes a message of a device before it becomes an event. */
  enrich?: ((login: DeviceLogin, message: DeviceMessage) => DeviceMessage) | undefined;
  /** Another form of events than the usual one. */
  form?: EventForm | undefined;
  now: () => number;
}): Events {
  const { count, retention, journal, store, numbering, enrich = (_, message) => message, form, now } = options;
  const partitions = Array.from({ length: count }, (_, id) =>
    createPartitionLog(id, retention, now, store && ((each) => store.events(id, each))),
  );

  const partitionOf = (key: string): PartitionLog => {
    const partition = partitions[stableHash(key) % partitions.length];
    if (!partition) throw new RangeError('The hub has no partition.');
    return partition;
  };

  return {
    partitions,
    partitionOf,
    accept(login, sent) {
      if (messageSize(sent) > maxEventSize)
        throw new Refusal('amqp:link:message-size-exceeded', 'A device-to-cloud message may have 256 KB.');
      const message = enrich(login, sent);
      const { deviceId } = login.identity;
      const partition = partitionOf(deviceId);
      const event = partition.append((position) => {
        const said = { ...position, sequenceNumber: numbering.sequenceNumber(position.sequenceNumber) };
        const encoded = encodeDeviceEvent(login, message, said);
        return form ? form(encoded, deviceId, position.offset) : encoded;
      });
      // the body ends the encoded message: the journal shares those bytes and lets go of the receive buffer
      const body = event.bytes.subarray(event.bytes.length - message.body.length);
      const { system, properties } = message;
      const { sequenceNumber } = event;
      journal.add({
        kind: 'd2c',
        ...nameOf(login.identity),
        correlationId: correlationOf(message),
        partition: partition.id,
        sequenceNumber,
        system,
        properties,
        body,
      });
      return event;
    },
  };
}

/** FNV-1a, 32 bits: the same key gives the same number in every process and version. */
export function stableHash(key: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(key)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
