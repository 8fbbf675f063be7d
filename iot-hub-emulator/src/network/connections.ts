import type { Duplex } from 'node:stream';

/** Whose connection it is: an event client's, a service's or a device's. */
export const connectionKinds = ['events', 'service', 'device'] as const;
export type ConnectionKind = (typeof connectionKinds)[number];

/** Why the hub ends something: an AMQP condition and a sentence. */
export interface Reason {
  condition: string;
  description: string;
  info?: Readonly<Record<string, string | number>> | undefined;
}

/** What a close of the connection finds of its links: ended for the same reason, or as they were. */
export const linksAtClose = ['detached', 'attached'] as const;
export type LinksAtClose = (typeof linksAtClose)[number];

/** An AMQP link as faults and counters see it. */
export interface Link {
  name: string;
  address: string;
  /** Which way messages go, seen from the hub. */
  direction: 'in' | 'out';
  /** Messages that may still come, or go, before more credit is given. */
  credit(): number;
  /** Messages that came or went since the link was attached. */
  transfers(): number;
  /** End the link from the hub's side; `closed` false says that it may be resumed. */
  detach(reason: Reason | undefined, closed: boolean): void;
  /** Call `step` once the link is over: closed by either end, or gone with its session or connection. The last comes first. */
  onEnd(step: (reason: string) => void): void;
  /** Of a link that receives events: which. */
  receives?: { partition: string; group: string };
  /** Whether a token on the connection still gives the right to use the link; always when absent. */
  allowed?: () => boolean;
  /** Go back by so many events and send them again. */
  rewind?(events: number): number;
  /** Try again to send, after something that held it back is gone. */
  resume?(): void;
}

/** One connection of a client. */
export interface Connection {
  readonly id: number;
  readonly protocol: 'amqp' | 'mqtt';
  /** Unknown until the client says what it wants. */
  kind: ConnectionKind | undefined;
  /** The device that logged in. */
  deviceId: string | undefined;
  readonly socket: Duplex;
  readonly links: Set<Link>;
  /** A fault keeps back all events on it. */
  muted?: boolean;
  /** The hub has ended it and can answer nothing: messages that still come are not taken. */
  unanswerable?: boolean;
  /**
   * End the connection as its protocol demands, with a reason if the protocol can carry one. Over AMQP its links and
   * sessions end first, as traces of IoT Hub show; `attached` leaves that out.
   */
  close(reason: Reason | undefined, links?: LinksAtClose): void;
  /** Count every token of this connection as expired, and end what depended on it. */
  expire(): void;
}

/** Every connection there is, in the order they came. */
export interface Connections {
  open(connection: Omit<Connection, 'id' | 'links'>): Connection;
  list(): Connection[];
}

/** A table of the hub's connections; an entry goes when its socket closes. */
export function createConnections(): Connections {
  const connections = new Set<Connection>();
  let last = 0;
  return {
    open(parts) {
      last += 1;
      const connection: Connection = Object.assign(parts, { id: last, links: new Set<Link>() });
      connections.add(connection);
      connection.socket.once('close', () => connections.delete(connection));
      return connection;
    },
    list: () => [...connections],
  };
}

/** What kind of client attaches to an AMQP address, or puts a token for an audience; undefined: it could be any. */
export function kindOfAddress(address: string): ConnectionKind | undefined {
  if (address === '$cbs') return undefined;
  if (/(^|\/)devices\//i.test(address)) return 'device';
  if (/^sb:\/\//i.test(address)) return 'events';
  if (/^\/?(messages|methods|twins?|filenotifications?)\//i.test(address)) return 'service';
  return 'events';
}

/**
 * The same for the audience of a token: `sb://…` is an event client's, `HOST/devices/…` a device's, `HOST` a service's, and
 * `https://…` the scope for which an identity of a service has got its token.
 */
export function kindOfAudience(audience: string): ConnectionKind {
  const text = audience.replaceAll(/%2f/gi, '/');
  if (isOfEvents(text)) return 'events';
  return /\/devices\//i.test(text) ? 'device' : 'service';
}

/** Whether the audience of a token is an event hub's. */
export const isOfEvents = (audience: string): boolean => /^(?!https:)[a-z]+:\/\//i.test(audience);
