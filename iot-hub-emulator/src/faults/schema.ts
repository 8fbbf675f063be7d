import { z } from 'zod';
import { leftEndpoints } from '../events/regions.ts';
import { connectionKinds, linksAtClose } from '../network/connections.ts';
import { Refusal } from '../values/refusal.ts';
import { clausesOf } from '../values/sentences.ts';
import { deviceId, ms, often, text } from './fields.ts';
import { requestFaults } from './requestFaults.ts';

// The one description of the faults: types, checks, the contract of the admin port and the help of the command line.

const connections = z.enum(connectionKinds).optional().describe('whose connections; any when absent');
const link = z
  .enum(['c2d', 'd2c', 'events'])
  .optional()
  .describe('links on which a service sends to devices, a device sends, or a producer sends events; any when absent');
const address = text(256).optional().describe('only links whose address has this text in it');
const partition = text(8).optional().describe('only this partition');
const group = text(256).optional().describe('only this consumer group');
const condition = text(128).optional().describe('AMQP error condition; none when absent');
const links = z
  .enum(linksAtClose)
  .optional()
  .describe('over AMQP: detached before the close, as IoT Hub does (default), or left attached');
const which = { connections, deviceId, connection: z.int().optional().describe('only the connection of this id') };

/** Faults that stand until they are used up or cleared; each is looked for at one place of the hub. */
export const standingFaults = [
  z
    .strictObject({
      kind: z.literal('settle'),
      answer: z
        .enum(['hold', 'delay', 'never', 'release', 'modify', 'reject', 'detach', 'close', 'fin', 'rst'])
        .describe(
          'settle when the fault is cleared, late or never; otherwise than accepted; or end link or connection',
        ),
      link,
      deviceId,
      ms: ms.optional().describe('for delay; default 1000'),
      condition: condition.describe('for reject, detach and close'),
      links: links.describe('for close: detached before it (default), or left attached'),
      effect: z
        .boolean()
        .optional()
        .describe('whether the message is taken in; default yes, but not when released, modified or rejected'),
      ...often,
    })
    .describe('A message that was sent to the hub is not just accepted. Over MQTT that is the PUBACK.'),
  z
    .strictObject({
      kind: z.literal('refuse-connection'),
      answer: z
        .enum(['closed', 'reset', 'silent'])
        .describe(
          'the port is closed (with times or skip, which count connections, as reset); a RST follows; nothing is ever said',
        ),
      port: z.enum(['amqp', 'amqps', 'mqtts', 'https']).optional().describe('any but the admin port when absent'),
      ...often,
    })
    .describe('Connections are not taken.'),
  z
    .strictObject({ kind: z.literal('refuse-link'), connections, address, partition, condition, ...often })
    .describe('A link is refused when it attaches, with amqp:internal-error unless another condition is given.'),
  z
    .strictObject({
      kind: z.literal('refuse-token'),
      answer: z.enum(['refuse', 'silent']).describe('say no, or nothing'),
      connections,
      deviceId,
      ...often,
    })
    .describe('Tokens are refused, or never answered: of $cbs and of MQTT logins.'),
  z
    .strictObject({ kind: z.literal('token-life'), ms: ms.describe('milliseconds'), connections, deviceId, ...often })
    .describe('Tokens live no longer than this, whatever they say.'),
  z
    .strictObject({ kind: z.literal('quota'), ...often })
    .describe('The daily quota of the hub is used up: messages to devices are refused, until it is cleared.'),
  z.strictObject({ kind: z.literal('no-credit'), link }).describe('Senders get no credit, and lose what they have.'),
  z
    .strictObject({ kind: z.literal('unsettled'), partition, group })
    .describe('Events are sent unsettled to receivers that attach from now on; without it they are sent settled.'),
  z.strictObject({ kind: z.literal('no-events'), partition, group }).describe('Receivers get no events.'),
  z
    .strictObject({
      kind: z.literal('partition-info'),
      answer: z.enum(['stale', 'no-offset']).describe('older than the partition is, or without the last offset'),
      partition,
      events: z.int().positive().optional().describe('for stale: how many events older; default 100'),
      ...often,
    })
    .describe('What $management says of a partition is wrong, as it is at the real hub now and then.'),
  ...requestFaults,
] as const;

/** Faults that strike at once and are over. */
export const immediateFaults = [
  z
    .strictObject({
      kind: z.literal('drop'),
      how: z.enum(['fin', 'rst']).optional().describe('default rst'),
      ...which,
    })
    .describe('Connections break.'),
  z
    .strictObject({ kind: z.literal('close'), condition, links, ...which })
    .describe('The hub closes connections in the way of their protocol.'),
  z
    .strictObject({
      kind: z.literal('detach'),
      condition,
      closed: z.boolean().optional().describe('false: the detach says that the link may be resumed; default true'),
      address,
      partition,
      group,
      ...which,
    })
    .describe('The hub detaches links; those of $cbs and $management only when the address names them.'),
  z
    .strictObject({ kind: z.literal('mute'), ...which })
    .describe('Connections stay open and alive, but no event is sent on them any more, also not on new links.'),
  z
    .strictObject({ kind: z.literal('steal'), partition: text(8), group })
    .describe('Receivers lose a partition to an imaginary one with a higher owner level.'),
  z
    .strictObject({ kind: z.literal('move'), partition: text(8), ms: ms.optional().describe('default 0') })
    .describe('A partition moves to another node: its receivers are detached, and refused for a while.'),
  z
    .strictObject({ kind: z.literal('expire-tokens'), ...which })
    .describe('Tokens that were put so far count as expired; what lived on them ends.'),
  z
    .strictObject({ kind: z.literal('restart'), downMs: ms.optional().describe('default 0') })
    .describe('All connections break and all ports are closed for a while, then open again, the same ones.'),
  z
    .strictObject({
      kind: z.literal('failover'),
      left: z
        .enum(leftEndpoints)
        .optional()
        .describe('the event endpoint before it: not there any more (default), or there without new events'),
    })
    .describe(
      'The hub fails over to its other region, or back: another event endpoint, whose numbers and offsets begin anew; all connections end, messages to devices and feedback are lost.',
    ),
  z
    .strictObject({ kind: z.literal('redeliver'), events: z.int().positive().describe('how many'), partition, group })
    .describe('Receivers go back by some events and get them again.'),
  z
    .strictObject({
      kind: z.literal('burst'),
      events: z.int().positive().max(10_000_000).describe('how many'),
      bytes: z.int().min(0).max(262_144).optional().describe('size of a body; default 1024'),
      body: z.string().max(262_144).optional().describe('the body itself, instead of one of that size'),
      sections: z
        .base64()
        .max(349_528)
        .optional()
        .describe('instead of a body: the encoded AMQP sections of one that is not binary, in base64'),
      deviceId: text(128).optional().describe('as if it had sent them; all devices in turn when absent'),
      properties: z.record(z.string(), z.string()).optional().describe('application properties'),
    })
    .describe('Many events are there at once.'),
] as const;

const standingSchema = z.discriminatedUnion('kind', standingFaults);
const immediateSchema = z.discriminatedUnion('kind', immediateFaults);

export type StandingFault = z.infer<typeof standingSchema>;
export type ImmediateFault = z.infer<typeof immediateSchema>;
export type FaultRequest = StandingFault | ImmediateFault;
export type FaultOf<K extends FaultRequest['kind']> = Extract<FaultRequest, { kind: K }>;

const anyFault = z.discriminatedUnion('kind', [...standingFaults, ...immediateFaults]);

/** A fault that was asked for. Refused with a sentence that says what is wrong. */
export function parseFault(asked: unknown): FaultRequest {
  const { success, data, error } = anyFault.safeParse(asked);
  if (success) return data;
  const clauses = clausesOf(error.issues, 'a fault', (field) => `this kind has no field ${field}`);
  const sentence = `That is no fault: ${clauses}. All kinds and their fields: GET /faults/kinds of the admin port, or the command faults kinds.`;
  throw new Refusal('com.microsoft:argument-error', sentence);
}

const immediateKinds: ReadonlySet<string> = new Set(immediateFaults.map(({ shape }) => shape.kind.value));

/** Whether a fault strikes at once and is over. */
export const isImmediate = (fault: FaultRequest): fault is ImmediateFault => immediateKinds.has(fault.kind);
