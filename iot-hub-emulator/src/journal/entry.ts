import { asText, type DeviceMessage, type Message } from '../values/message.ts';

/** The device and the message that an event is about, if any. */
interface About {
  deviceId?: string | undefined;
  moduleId?: string;
  /** What a message, its reply and the calls in between have in common: see `correlationOf`. */
  correlationId?: string | undefined;
}

type OfDevice = About & { deviceId: string };

/** What a journal records. */
export type JournalEvent =
  /** A device sent. */
  | (OfDevice & { kind: 'd2c'; partition: number; sequenceNumber: number } & DeviceMessage)
  /** A service sent to a device, under the policy (SAS key name) it was authenticated with. */
  | (OfDevice & { kind: 'c2d'; policy: string; refused?: { condition: string; description: string } } & Message)
  /** A queued message was delivered to the device. */
  | (OfDevice & { kind: 'c2d-delivered'; messageId: string; deliveryCount: number })
  /** A queued message left the queue. */
  | (OfDevice & { kind: 'c2d-settled'; messageId: string; outcome: C2dOutcome })
  /** A fault changed what a service is told of a message it sent. */
  | (OfDevice & { kind: 'c2d-fault'; messageId: string; answer: string })
  | (OfDevice & { kind: 'connected'; protocol: DeviceProtocol })
  | (OfDevice & { kind: 'disconnected'; protocol: DeviceProtocol; reason: string })
  /** A connection was refused; `deviceId` is what the client called itself. */
  | (OfDevice & { kind: 'refused'; protocol: DeviceProtocol; reason: string })
  /** A service called a method, and how that ended: the device answered with a status, or the hub refused with a condition. */
  | (OfDevice & {
      kind: 'method';
      methodName: string;
      /** JSON. */
      payload: string;
      /** How long the device has to answer. */
      responseTimeoutInSeconds: number;
      /** How long to wait for a device that is not connected. */
      connectTimeoutInSeconds: number;
      status?: number;
      refused?: string;
    })
  /** A client began, or ended, to receive events at this address. */
  | { kind: 'receiver-opened'; address: string; policy: string }
  | { kind: 'receiver-closed'; address: string; reason: string }
  /** A server beside the hub was called. */
  | (About & {
      kind: 'http-request';
      server: string;
      method: string;
      /** Path and query as sent, still percent-encoded. */
      path: string;
      /** Those that matter, as sent. Never `authorization`. */
      headers: Readonly<Record<string, string>>;
      /** As sent; empty when there was none. */
      body: string;
      /** Id of the fault that struck the call. */
      fault?: string;
    })
  /** What the server decided on; `status` is null when that was not sent, or not whole. */
  | (About & { kind: 'http-response'; server: string; request: number; status: number | null; body: string | null });

/** Every kind, in a few words. */
export const kinds: Readonly<Record<JournalEvent['kind'], string>> = {
  d2c: 'a device sent',
  c2d: 'a service sent to a device; `refused` when the hub did not take it',
  'c2d-delivered': 'handed to the device',
  'c2d-settled': 'left the queue',
  'c2d-fault': 'a fault changed what the service is told of its message',
  connected: 'a device connected',
  disconnected: 'a device disconnected',
  refused: 'a connection was refused',
  method: 'a service called a method: the `status` of the device, or `refused` by the hub',
  'receiver-opened': 'a client began to receive events',
  'receiver-closed': 'a client ended to receive events',
  'http-request': 'a backend was called',
  'http-response': 'what it answered; `request` is the position of the call',
};

export type Kind = JournalEvent['kind'];

/**
 * How a queued message ends: taken or rejected by the device, too old, abandoned too often, removed by a service, lost in a
 * failover of the hub, or its device deleted.
 */
export type C2dOutcome = 'completed' | 'rejected' | 'expired' | 'undeliverable' | 'purged' | 'lost' | 'device-deleted';

export type DeviceProtocol = 'mqtt' | 'amqp';

/** An event with its position in the journal, which counts from 1, and its time in milliseconds since 1970. */
export type JournalEntry = JournalEvent & { position: number; time: number };

/** The entries of one kind. */
export type EntryOf<K extends Kind> = Extract<JournalEntry, { kind: K }>;

/** Which entries. */
export interface JournalFilter<K extends Kind = Kind> {
  /** Only those after this position. */
  since?: number | undefined;
  deviceId?: string | undefined;
  correlationId?: string | undefined;
  kind?: K | undefined;
}

/** Whether a filter, its `since` aside, lets an entry pass. */
export function passes<K extends Kind>(filter: JournalFilter<K>, entry: JournalEntry): entry is EntryOf<K> {
  const about: About = entry.kind === 'receiver-opened' || entry.kind === 'receiver-closed' ? {} : entry;
  return (
    (filter.kind === undefined || filter.kind === entry.kind) &&
    (filter.deviceId === undefined || filter.deviceId === about.deviceId) &&
    (filter.correlationId === undefined || filter.correlationId === about.correlationId)
  );
}

/**
 * The correlation id of a message: what its application properties name `correlationId` or `id`, or else the system
 * property. Of a method call: the member `correlationId` of its payload.
 */
export function correlationOf({
  system,
  properties,
}: Pick<DeviceMessage, 'system' | 'properties'>): string | undefined {
  const given = properties['correlationId'] ?? properties['id'];
  return given === undefined || given === null ? system.correlationId : asText(given);
}
