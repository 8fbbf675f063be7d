import type { DeviceMessage, Message } from '../values/message.ts';

/** Something that happened at the hub. */
export type Happening =
  | ({ kind: 'd2c'; deviceId: string; moduleId?: string; partition: number; sequenceNumber: number } & DeviceMessage)
  /** A service sent to a device, under the policy (SAS key name) it was authenticated with. */
  | ({ kind: 'c2d'; deviceId: string; policy: string; refused?: { condition: string; description: string } } & Message)
  /** A queued message was handed to the device. */
  | { kind: 'c2d-delivered'; deviceId: string; messageId: string; deliveryCount: number }
  /** A queued message left the queue. */
  | { kind: 'c2d-settled'; deviceId: string; messageId: string; outcome: C2dOutcome }
  /** A fault had a message of a service answered otherwise than by what the hub did with it. */
  | { kind: 'c2d-misanswered'; deviceId: string; messageId: string; correlationId: string; answer: string }
  | { kind: 'connected'; deviceId: string; moduleId?: string; protocol: DeviceProtocol }
  | { kind: 'disconnected'; deviceId: string; moduleId?: string; protocol: DeviceProtocol; reason: string }
  /** Somebody was turned away; `deviceId` is whom it claimed to be. */
  | { kind: 'refused'; deviceId: string; protocol: DeviceProtocol; reason: string }
  /** A service called a method, and how that ended: the device answered with a status, or the hub refused with a condition. */
  | {
      kind: 'method';
      deviceId: string;
      moduleId?: string;
      methodName: string;
      /** JSON. */
      payload: string;
      status?: number;
      refused?: string;
    }
  /** A client began, or ended, to receive events at this address. */
  | { kind: 'receiver-opened'; address: string; policy: string }
  | { kind: 'receiver-closed'; address: string; reason: string };

/** How a queued message ends: taken or rejected by the device, too old, delivered in vain too often, or its device deleted. */
export type C2dOutcome = 'completed' | 'rejected' | 'expired' | 'undeliverable' | 'device-deleted';

export type DeviceProtocol = 'mqtt' | 'amqp';

/** A happening with its place in the journal and its time (milliseconds since 1970). */
export type JournalEntry = Happening & { index: number; at: number };

/** Everything that the hub received and sent, as data. The oldest entries go when it is full. */
export interface Journal {
  add(happening: Happening): void;
  /** Entries in order: those after index `since`, of this device, of this kind. */
  list(filter?: { since?: number; deviceId?: string; kind?: Happening['kind'] }): JournalEntry[];
  /** Call `listener` with every entry from now on; the answer ends it. */
  watch(listener: (entry: JournalEntry) => void): () => void;
}

/** A journal in memory of the last `capacity` entries. */
export function createJournal(now: () => number, capacity: number): Journal {
  const ring: JournalEntry[] = [];
  const listeners = new Set<(entry: JournalEntry) => void>();
  let next = 0;

  return {
    add(happening) {
      const entry: JournalEntry = Object.assign(happening, { index: next, at: now() });
      ring[next % capacity] = entry;
      next += 1;
      for (const listener of listeners) listener(entry);
    },
    list({ since = -1, deviceId, kind } = {}) {
      const found: JournalEntry[] = [];
      for (let index = Math.max(since + 1, next - capacity, 0); index < next; index++) {
        const entry = ring[index % capacity];
        const of = entry && 'deviceId' in entry ? entry.deviceId : undefined;
        if (entry && (deviceId ?? of) === of && (kind ?? entry.kind) === entry.kind) found.push(entry);
      }
      return found;
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
