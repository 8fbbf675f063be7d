import type { Duplex } from 'node:stream';
import type { Message as AmqpMessage, Delivery, Receiver, Sender } from 'rhea';
import type { Head } from '../../events/amqpSections.ts';
import type { Dispositions } from '../../faults/answering.ts';
import type { Connection, Link } from '../../network/connections.ts';
import { Refusal } from '../../values/refusal.ts';
import type { Claims } from './claims.ts';
import type { Outlet } from './credit.ts';
import type { IdleConnection } from './idleConnection.ts';

/** One AMQP connection as the nodes see it. */
export interface Peer {
  socket: Duplex;
  connection: Connection;
  claims: Claims;
  idle: IdleConnection;
  /** Links on which answers of the request nodes can go back, by node, link name and target address. */
  replies: Map<string, Outlet>;
  /** Bytes of events that rhea got in this turn; it writes them to the socket at the end of it. */
  unwritten: number;
}

/**
 * An AMQP node, to which links attach. It refuses a link by throwing a `Refusal`. `link` is what faults and counters see
 * of it; the node adds what it knows.
 */
export interface Node {
  /** A client attached to receive. */
  serve?(sender: Sender, peer: Peer, link: Link): void;
  /** A client attached to send. */
  accept?(receiver: Receiver, peer: Peer, link: Link): void;
}

/** What a client sent, as rhea decodes it. Application properties may be of any AMQP type. */
export type Incoming = AmqpMessage & {
  application_properties?: Record<string, unknown>;
  /** The sections of a body that is neither bytes nor text, as they came. */
  sections?: Buffer;
  /** The sections as they came: those before the body, and the rest. */
  encoded: { readonly head: Head; readonly rest: Buffer };
};

/** Close a link and say why. */
export function refuse(link: Link, { condition, message, info }: Refusal): void {
  link.detach({ condition, description: message, ...(info && { info }) }, true);
}

/** How the sender of this delivery is answered. */
export function dispositions(delivery: Delivery | undefined): Dispositions {
  const alone = (settle: (delivery: Delivery) => void): void => {
    if (!delivery) return;
    writeDispositions(delivery);
    settle(delivery);
    writeDispositions(delivery);
  };
  return {
    accept: () => delivery?.accept(),
    reject: (condition, description) => alone((it) => it.reject({ condition, description })),
    release: () => alone((it) => it.release()),
    modify: () => alone((it) => it.modified({ delivery_failed: true })),
    // rhea counts what is not settled against the window of the session
    forget: () => delivery && void Object.assign(delivery, { settled: true }),
  };
}

/** A part of rhea's session that its typings leave out. */
interface SessionState {
  readonly incoming: { process(session: unknown): void };
}

/**
 * Sends the outcomes that rhea has gathered. Left to itself it would put two neighbours with different outcomes into one
 * range, with the outcome of the first: a refused message would count as accepted.
 */
function writeDispositions({ link: { session } }: Delivery): void {
  (session as unknown as SessionState).incoming.process(session);
}

/** The refusal of an address where there is nothing, in the words by which the event client knows it. */
export function notFound(address: string): Refusal {
  return new Refusal('amqp:not-found', `The messaging entity '${address}' could not be found.`);
}
