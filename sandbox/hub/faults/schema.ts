import { z } from 'zod';
import { connectionKinds } from '../connections.ts';

const connections = z.enum(connectionKinds);
const link = z.enum(['c2d', 'd2c', 'events']);
const ms = z.int().min(0).max(3_600_000);
const condition = z.string().min(1).max(128);
const id = z.string().min(1).max(256);

/** What every fault that stands has: how often it strikes (for ever when absent) after how many that pass unharmed. */
const standing = { times: z.int().positive().optional(), skip: z.int().min(0).optional() };
const receiver = { partition: id.optional(), group: id.optional() };

/** Faults that stand until they are used up or cleared; each is looked for at one place of the hub. */
export const standingFaults = [
  /** How the hub answers a message that it was sent, instead of accepting it. */
  z.strictObject({
    kind: z.literal('settle'),
    ...standing,
    /** `hold`: when the fault is cleared; `delay`: after `ms`; `never`; or it ends link or connection instead. */
    answer: z.enum(['hold', 'delay', 'never', 'release', 'modify', 'reject', 'detach', 'close', 'fin', 'rst']),
    /** `c2d` from a service, `d2c` from a device (MQTT: PUBACK), `events` from an event producer; any when absent. */
    link: link.optional(),
    deviceId: id.optional(),
    ms: ms.optional(),
    /** For `reject`, `detach` and `close`; without one a detach or close gives no reason. */
    condition: condition.optional(),
    /** Whether the message is taken in all the same; by default not when released, modified or rejected. */
    effect: z.boolean().optional(),
  }),
  /** Connections are not taken: the port is closed, or they are reset, or nothing is ever said on them. */
  z.strictObject({
    kind: z.literal('refuse-connection'),
    ...standing,
    answer: z.enum(['closed', 'reset', 'silent']),
    port: z.enum(['amqp', 'amqps', 'mqtts', 'https']).optional(),
  }),
  /** A link is refused when it attaches. */
  z.strictObject({
    kind: z.literal('refuse-link'),
    ...standing,
    connections: connections.optional(),
    /** The address has this text in it, without regard to case. */
    address: id.optional(),
    partition: id.optional(),
    condition: condition.optional(),
  }),
  /** A token is refused, or never answered ($cbs and MQTT). */
  z.strictObject({
    kind: z.literal('refuse-token'),
    ...standing,
    answer: z.enum(['refuse', 'silent']),
    connections: connections.optional(),
    deviceId: id.optional(),
  }),
  /** Tokens that are put live this long at most. */
  z.strictObject({ kind: z.literal('token-life'), ...standing, ms, connections: connections.optional() }),
  /** The hub gives senders no credit, and takes back what it gave. */
  z.strictObject({ kind: z.literal('no-credit'), link: link.optional() }),
  /** Events are sent unsettled to receivers that attach from now on. */
  z.strictObject({ kind: z.literal('unsettled'), ...receiver }),
  /** Receivers get no events. */
  z.strictObject({ kind: z.literal('no-events'), ...receiver }),
  /** Requests over HTTPS (registry, twins, methods) are slow, silent, reset or answered with a status. */
  z.strictObject({
    kind: z.literal('rest'),
    ...standing,
    answer: z.enum(['delay', 'silent', 'reset', 'status']),
    method: z.enum(['GET', 'PUT', 'POST', 'PATCH', 'DELETE']).optional(),
    /** The path has this text in it. */
    path: id.optional(),
    ms: ms.optional(),
    status: z.int().min(300).max(599).optional(),
    /** The error code in the body, such as `ThrottlingException`. */
    code: id.optional(),
  }),
] as const;

const victim = { connections: connections.optional(), deviceId: id.optional(), connection: z.int().optional() };

/** Faults that happen at once and are over. */
export const suddenFaults = [
  /** Connections break, with a FIN or a RST. */
  z.strictObject({ kind: z.literal('drop'), how: z.enum(['fin', 'rst']).optional(), ...victim }),
  /** The hub closes connections in the protocol's own way. */
  z.strictObject({ kind: z.literal('close'), condition: condition.optional(), ...victim }),
  /** The hub detaches links, with a condition or without. */
  z.strictObject({
    kind: z.literal('detach'),
    condition: condition.optional(),
    /** False: the detach says that the link may be resumed; default true. */
    closed: z.boolean().optional(),
    address: id.optional(),
    ...receiver,
    ...victim,
  }),
  /** Receivers of a partition lose it to an imaginary one with a higher owner level. */
  z.strictObject({ kind: z.literal('steal'), partition: id, group: id.optional() }),
  /** A partition moves to another node: its receivers are detached, and refused for `ms` (default 0). */
  z.strictObject({ kind: z.literal('move'), partition: id, ms: ms.optional() }),
  /** All tokens put so far count as expired. */
  z.strictObject({ kind: z.literal('expire-tokens'), ...victim }),
  /** All connections break and all ports are closed for `downMs` (default 0); then they are open again, the same ones. */
  z.strictObject({ kind: z.literal('restart'), downMs: ms.optional() }),
  /** Receivers go back by so many events and get them again. */
  z.strictObject({ kind: z.literal('redeliver'), events: z.int().positive(), ...receiver }),
  /** So many events of a size are there at once, as if `deviceId` (default: many devices) had sent them. */
  z.strictObject({
    kind: z.literal('burst'),
    events: z.int().positive().max(10_000_000),
    bytes: z.int().min(0).max(262_144).optional(),
    deviceId: id.optional(),
    properties: z.record(z.string(), z.string()).optional(),
  }),
] as const;

const standingSchema = z.discriminatedUnion('kind', standingFaults);
const suddenSchema = z.discriminatedUnion('kind', suddenFaults);

export type StandingFault = z.infer<typeof standingSchema>;
export type SuddenFault = z.infer<typeof suddenSchema>;
export type FaultRequest = StandingFault | SuddenFault;
export type FaultOf<K extends FaultRequest['kind']> = Extract<FaultRequest, { kind: K }>;

/** A fault as somebody asked for it. Throws a `ZodError` that names what is wrong. */
export const parseFault = (asked: unknown): FaultRequest =>
  z.discriminatedUnion('kind', [...standingFaults, ...suddenFaults]).parse(asked);

const suddenKinds: ReadonlySet<string> = new Set(suddenFaults.map(({ shape }) => shape.kind.value));

/** Whether a fault happens at once. */
export const isSudden = (fault: FaultRequest): fault is SuddenFault => suddenKinds.has(fault.kind);
