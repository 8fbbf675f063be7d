import { z } from 'zod';
import { journalQuery } from '../journal/read.ts';
import * as schemas from './schemas.ts';

/** One operation of the admin port: its request and its answers. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** `{id}` stands for an id. */
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** By status; without a schema there is no body. A refusal (4xx) is `schemas.refused`. */
  readonly answers: Readonly<Record<number, { what: string; schema?: z.ZodType; mediaType?: string }>>;
  readonly refusals?: readonly (400 | 404 | 409 | 429)[];
}

/** The one description of the admin port: its routes and its contract are made from it. */
export const operations = {
  describe: {
    method: 'GET',
    path: '/',
    summary: 'The hub, its ports and the routes of this port',
    answers: { 200: { what: 'The hub, its ports and the routes of this port.', schema: schemas.hub } },
  },
  listDevices: {
    method: 'GET',
    path: '/devices',
    summary: 'The devices, without their keys',
    answers: {
      200: { what: 'All devices; modules are not listed.', schema: z.object({ devices: z.array(schemas.device) }) },
    },
  },
  addDevice: {
    method: 'POST',
    path: '/devices',
    summary: 'Add a device: {deviceId, primaryKey?, authentication?}; the answer has its key and connection string',
    body: schemas.newDevice,
    answers: { 201: { what: 'Added.', schema: schemas.addedDevice } },
    refusals: [400, 409],
  },
  showDevice: {
    method: 'GET',
    path: '/devices/{id}',
    summary: 'A device, with its key and connection string',
    answers: { 200: { what: 'As it is now.', schema: schemas.addedDevice } },
    refusals: [404],
  },
  removeDevice: {
    method: 'DELETE',
    path: '/devices/{id}',
    summary: 'Remove a device, its modules, its connections and its waiting messages',
    answers: { 204: { what: 'Removed.' } },
    refusals: [404],
  },
  showTwin: {
    method: 'GET',
    path: '/devices/{id}/twin',
    summary: 'The twin of a device: tags, desired and reported properties',
    answers: { 200: { what: 'As it is now.', schema: schemas.twin } },
    refusals: [404],
  },
  listQueue: {
    method: 'GET',
    path: '/devices/{id}/messages',
    summary: 'The cloud-to-device messages in the queue of a device, oldest first, without their bodies',
    answers: {
      200: {
        what: 'Those that wait, and those that are delivered but not settled.',
        schema: z.object({ messages: z.array(schemas.queuedMessage) }),
      },
    },
    refusals: [404],
  },
  sendMessage: {
    method: 'POST',
    path: '/devices/{id}/messages',
    summary: 'Send a message to a device: {body?, properties?, messageId?, ack?, …}',
    body: schemas.newMessage,
    answers: { 201: { what: 'It is in the queue of the device.', schema: schemas.sentMessage } },
    refusals: [400, 404, 429],
  },
  listConnections: {
    method: 'GET',
    path: '/connections',
    summary: 'Who is connected, by AMQP and MQTT, and with which links',
    answers: {
      200: {
        what: 'The open connections, in the order in which they came.',
        schema: z.object({ connections: z.array(schemas.connection) }),
      },
    },
  },
  listCertificates: {
    method: 'GET',
    path: '/certificates',
    summary: 'The CA certificates by which devices get in',
    answers: {
      200: {
        what: 'Those that are registered, verified or not.',
        schema: z.object({ certificates: z.array(schemas.certificate) }),
      },
    },
  },
  addCertificate: {
    method: 'POST',
    path: '/certificates',
    summary: 'Register a CA certificate, or replace the one of that name: {name, certificate, isVerified?}',
    body: schemas.newCertificate,
    answers: { 201: { what: 'Registered.', schema: schemas.certificate } },
    refusals: [400],
  },
  generateVerificationCode: {
    method: 'POST',
    path: '/certificates/{id}/generateVerificationCode',
    summary: 'A new verification code for a CA certificate; earlier ones count no more',
    answers: { 200: { what: 'The code.', schema: schemas.verificationCode } },
    refusals: [404],
  },
  verifyCertificate: {
    method: 'POST',
    path: '/certificates/{id}/verify',
    summary: 'Prove that you have the key of a CA certificate: {certificate}, issued by it for the verification code',
    body: schemas.proofOfPossession,
    answers: { 200: { what: 'Verified.', schema: schemas.certificate } },
    refusals: [400, 404],
  },
  removeCertificate: {
    method: 'DELETE',
    path: '/certificates/{id}',
    summary: 'Remove a CA certificate; connections stay',
    answers: { 204: { what: 'Removed.' } },
    refusals: [404],
  },
  renewKey: {
    method: 'POST',
    path: '/policies/{id}/keys',
    summary: 'Give a policy a new primary or secondary key: {key?}; links go on until the tokens of the old one expire',
    body: schemas.whichKey,
    answers: { 200: { what: 'The key is another one.', schema: schemas.renewedKey } },
    refusals: [400, 404],
  },
  readJournal: {
    method: 'GET',
    path: '/journal',
    summary: 'What was received and sent; `last` is the position to go on from',
    query: journalQuery,
    answers: {
      200: {
        what: 'The entries that are kept, oldest first.',
        schema: z.object({ entries: z.array(schemas.entry), last: z.int().min(0) }),
      },
    },
    refusals: [400],
  },
  streamJournal: {
    method: 'GET',
    path: '/journal/stream',
    summary: 'The same as it happens, as server-sent events; goes on after the header Last-Event-ID, or since',
    query: journalQuery,
    answers: {
      200: {
        what: 'Each event has the position as its id and an entry as its data; an event `gap` has `{after, next}`: the entries in between have gone.',
        mediaType: 'text/event-stream',
        schema: z.string(),
      },
    },
    refusals: [400],
  },
  listPartitions: {
    method: 'GET',
    path: '/partitions',
    summary: 'The partitions and their first and next sequence numbers',
    answers: { 200: { what: 'The partitions.', schema: z.object({ partitions: z.array(schemas.partition) }) } },
  },
  count: {
    method: 'GET',
    path: '/counters',
    summary: 'Connections, links, credit, events and queues, in numbers',
    answers: { 200: { what: 'The current values.', schema: schemas.counters } },
  },
  listFaults: {
    method: 'GET',
    path: '/faults',
    summary: 'The standing faults',
    answers: {
      200: {
        what: 'In the order in which they were added.',
        schema: z.object({ faults: z.array(schemas.listedFault) }),
      },
    },
  },
  listFaultKinds: {
    method: 'GET',
    path: '/faults/kinds',
    summary: 'The kinds of faults and their fields, as text for people',
    answers: { 200: { what: 'Every kind.', schema: z.object({ kinds: z.array(schemas.faultKind) }) } },
  },
  addFault: {
    method: 'POST',
    path: '/faults',
    summary: 'Add a standing fault, for some seconds or until it is cleared, or cause one at once: {kind, …}',
    query: schemas.faultQuery,
    body: z.union([schemas.standingFault, schemas.immediateFault]),
    answers: {
      200: {
        what: 'The fault happened. The answer counts the connections, links or events that it affected.',
        schema: z.object({ struck: z.int().min(0) }),
      },
      201: { what: 'The fault stands until it is used up or cleared.', schema: z.object({ id: z.string() }) },
    },
    refusals: [400, 404],
  },
  clearFaults: {
    method: 'DELETE',
    path: '/faults',
    summary: 'Clear all faults and release what they held back',
    answers: { 200: { what: 'The number of cleared faults.', schema: z.object({ ended: z.int().min(0) }) } },
  },
  clearFault: {
    method: 'DELETE',
    path: '/faults/{id}',
    summary: 'Clear a fault and release what it held back',
    answers: { 204: { what: 'Cleared.' } },
    refusals: [404],
  },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;
