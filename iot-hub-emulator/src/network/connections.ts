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
  /** As the client wrote it. */
  address: string;
  /** What it means: without a scheme, a host or a slash before it. */
  path: string;
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
  /** What the client says of itself: its product, or the name of its container. */
  client?: string | undefined;
  /** When it came, in milliseconds since 1970. */
  readonly since: number;
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
  open(connection: Omit<Connection, 'id' | 'since' | 'links'>): Connection;
  list(): Connection[];
}

/** A table of the hub's connections; an entry goes when its socket closes. `now` gives milliseconds since 1970. */
export function createConnections(now: () => number): Connections {
  const connections = new Set<Connection>();
  let last = 0;
  return {
    open(parts) {
      last += 1;
      const connection: Connection = Object.assign(parts, { id: last, since: now(), links: new Set<Link>() });
      connections.add(connection);
      connection.socket.once('close', () => connections.delete(connection));
      return connection;
    },
    list: () => [...connections],
  };
}

/** What kind of client attaches to a path of AMQP; undefined: it could be any. */
export function kindOfPath(path: string): ConnectionKind | undefined {
  if (path === '$cbs') return undefined;
  if (/(^|\/)devices\//i.test(path)) return 'device';
  if (/^(messages|methods|twins?|filenotifications?)\//i.test(path)) return 'service';
  return 'events';
}

/** Whether requests go to this path, and answers come from it: it says nothing of what its client does. */
export const takesRequests = (path: string): boolean => /(^|\/)\$(cbs|management)$/i.test(path);

/**
 * What kind of client puts a token for an audience of a token: `sb://…` is an event client's, `HOST/devices/…` a device's, `HOST` a service's, and
 * `https://…` the scope for which an identity of a service has got its token.
 */
export function kindOfAudience(audience: string): ConnectionKind {
  const text = audience.replaceAll(/%2f/gi, '/');
  if (isOfEvents(text)) return 'events';
  return /\/devices\//i.test(text) ? 'device' : 'service';
}

/** Whether the audience of a token is an event hub's. */
export const isOfEvents = (audience: string): boolean => /^(?!https:)[a-z]+:\/\//i.test(audience);
