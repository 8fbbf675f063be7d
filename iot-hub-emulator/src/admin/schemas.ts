import { z } from 'zod';
import { immediateFaults, standingFaults } from '../faults/schema.ts';
import { keyNames } from '../identity/policies.ts';
import { kinds } from '../journal/entry.ts';
import { connectionKinds } from '../network/connections.ts';

/** What the admin port takes and answers. */

const count = z.int().min(0);
const dateTime = z.string().meta({ format: 'date-time' });

export const hub = z.object({
  name: z.string(),
  eventHub: z.string().describe('Name of the event hub that is read at present: another one after a failover'),
  hostName: z.string(),
  ports: z.record(z.enum(['amqp', 'amqps', 'mqtts', 'https', 'admin']), z.int().min(1).max(65_535)),
  caFile: z.string().describe('PEM file of the authority behind the TLS ports'),
  ca: z.string().describe('What that file has'),
  partitions: z.int().min(1),
  routes: z.record(z.string(), z.string()),
});

export const newDevice = z.object({
  deviceId: z.string(),
  primaryKey: z.string().optional().describe('Base64 of 16 to 64 bytes; random when absent'),
  authentication: z
    .discriminatedUnion('type', [
      z.object({ type: z.literal('sas') }),
      z.object({
        type: z.literal('selfSigned'),
        primaryThumbprint: z.string().optional(),
        secondaryThumbprint: z.string().optional(),
      }),
      z.object({ type: z.literal('certificateAuthority') }),
    ])
    .optional()
    .describe('How it proves who it is: with a key when absent; thumbprints are SHA-1 or SHA-256, hexadecimal'),
});

export const device = z.object({
  deviceId: z.string(),
  generationId: z.string().describe('Distinguishes it from an earlier device with the same id'),
  createdAt: dateTime,
  connected: z.boolean(),
  pending: count.describe('Cloud-to-device messages in its queue'),
});

const text = z.string().max(1024);

export const newMessage = z
  .strictObject({
    body: z.string().optional().describe('As text; empty when absent'),
    base64: z.base64().optional().describe('The body instead, if it is no text'),
    messageId: text.optional().describe('Random when absent'),
    correlationId: text.optional(),
    userId: text.optional(),
    contentType: text.optional(),
    contentEncoding: text.optional(),
    expiryTime: z.iso.datetime({ offset: true }).optional().describe('An hour from now when absent'),
    ack: z.enum(['none', 'positive', 'negative', 'full']).optional().describe('Of which outcomes there is feedback'),
    properties: z.record(z.string(), z.string()).optional(),
  })
  .describe('A message to a device, as a service sends it');

export const sentMessage = z.object({
  messageId: z.string(),
  pending: count.describe('Messages in the queue of the device'),
});

export const connection = z.object({
  id: z
    .int()
    .min(1)
    .describe('The faults `drop`, `close`, `mute`, `detach` and `expire-tokens` take it as `connection`'),
  protocol: z.enum(['amqp', 'mqtt']),
  kind: z.enum(connectionKinds).optional().describe('Absent until the client says what it wants'),
  deviceId: z.string().optional().describe('Of the first device that logged in on it'),
  client: z.string().optional().describe('What the client says of itself'),
  since: dateTime,
  links: z.array(
    z.object({
      name: z.string(),
      address: z.string(),
      direction: z.enum(['in', 'out']).describe('Seen from the hub'),
      credit: z.int(),
      transfers: count,
    }),
  ),
});

export const whichKey = z.object({
  key: z.enum(keyNames).default('primaryKey').describe('Which of the two keys of the policy'),
});

export const renewedKey = z.object({
  policy: z.string(),
  key: z.enum(keyNames),
  connectionString: z.string().describe('With the new key, for the service clients'),
  eventsConnectionString: z.string().describe('With the new key, for the event client'),
});

export const addedDevice = device.extend({
  primaryKey: z.string().optional().describe('Absent when the device proves with a certificate who it is'),
  connectionString: z.string(),
});

const pem = z.string().describe('PEM');

export const newCertificate = z.object({
  name: z.string(),
  certificate: pem,
  isVerified: z.boolean().default(false).describe('Without the proof that you have its key'),
});

export const proofOfPossession = z.object({
  certificate: pem.describe('PEM; issued by the registered one, with the verification code as its common name'),
});

export const verificationCode = z.object({ verificationCode: z.string() });

export const certificate = z.object({
  name: z.string(),
  subject: z.string(),
  thumbprint: z.string().describe('SHA-1, hexadecimal'),
  expiry: dateTime,
  isVerified: z.boolean().describe('Devices get in by it'),
  created: dateTime,
  updated: dateTime,
});

export const entry = z
  .object({
    kind: z.enum(Object.keys(kinds)),
    position: z.int().min(1),
    time: dateTime,
    deviceId: z.string().optional(),
    correlationId: z.string().optional(),
    body: z.string().nullish().describe('Of messages: base64; of calls: text'),
    system: z.record(z.string(), z.string()).optional().describe('Of messages: system properties, such as `messageId`'),
    properties: z.record(z.string(), z.unknown()).optional().describe('Of messages: application properties'),
    text: z.string().optional().describe('The body of a message, if it is UTF-8'),
    messageId: z.string().optional().describe('Of what became of a message to a device'),
    policy: z.string().optional().describe('Of the service or reader that did it'),
    outcome: z.string().optional().describe('How a message left the queue'),
    protocol: z.string().optional(),
    reason: z.string().optional(),
    methodName: z.string().optional(),
    payload: z.string().optional().describe('Of a method: JSON'),
    status: z.int().nullish().describe('Of a method or a call; null: nothing was answered'),
    refused: z.unknown().optional().describe('Why the hub did not take a message, or did not call a method'),
  })
  .describe(
    Object.entries(kinds)
      .map(([kind, what]) => `\`${kind}\`: ${what}`)
      .join('; '),
  );

export const partition = z.object({
  id: z.string(),
  firstSequenceNumber: count.describe('Of the oldest stored event'),
  nextSequenceNumber: count,
  lastOffset: z.string().optional(),
  lastEnqueuedTime: dateTime.optional(),
});

const receiver = z.object({
  connection: z.int(),
  name: z.string(),
  address: z.string(),
  credit: z.int().describe('Remaining credit in events'),
  delivered: count,
});

export const counters = z.object({
  appended: count.describe('Total events including those from before a restart'),
  delivered: count.describe('Events sent to receivers'),
  settled: count.describe('Settled events; those sent settled count at once'),
  connections: z.record(z.enum(['all', 'events', 'service', 'device', 'unknown']), count),
  links: count.describe('AMQP links'),
  receivers: z.array(receiver),
  queued: z
    .object({ all: count, byDevice: z.record(z.string(), z.int().min(1)) })
    .describe('Cloud-to-device messages that wait, or are delivered but not settled'),
});

export const standingFault = z
  .discriminatedUnion('kind', standingFaults)
  .describe('Stands until it is used up or cleared.');
export const immediateFault = z.discriminatedUnion('kind', immediateFaults).describe('Happens at once.');

export const listedFault = z.object({
  id: z.string(),
  fault: standingFault,
  struck: count.describe('Number of times that it was applied'),
  until: dateTime.optional().describe('When it is cleared; absent: when it is used up or somebody clears it'),
});

export const faultQuery = z.object({
  seconds: z.coerce
    .number()
    .int()
    .min(1)
    .max(86_400)
    .optional()
    .describe('A standing fault is cleared after so many seconds; without it, it stands'),
});

export const faultKind = z.object({
  kind: z.string(),
  happens: z.enum(['until cleared', 'at once']),
  what: z.string(),
  fields: z.record(z.string(), z.string()),
  schema: z.record(z.string(), z.unknown()).describe('The fault as JSON Schema'),
});

const section = z.record(z.string(), z.unknown());

export const twin = z.object({
  etag: z.string(),
  version: count,
  tags: section,
  desired: section,
  reported: section,
});

export const queuedMessage = z
  .object({
    system: z.record(z.string(), z.string()).describe('System properties, such as `messageId` and `expiryTime`'),
    properties: z.record(z.string(), z.string()).describe('Application properties'),
    bytes: count.describe('Size of the body'),
  })
  .describe('Without its body, which the journal has');

export const refused = z.strictObject({ error: z.string() });
