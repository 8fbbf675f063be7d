import type { Duplex } from 'node:stream';
import rhea, { type Connection, type Delivery, type EventContext, type Receiver, type Sender } from 'rhea';
import type { HubCore } from '../core/core.ts';
import type { Claim } from '../identity/claim.ts';
import { type Connection as HubConnection, kindOfPath, type Link, type Reason } from '../network/connections.ts';
import { endSoon } from '../network/listener.ts';
import { linkRefusal } from '../otherwise/refusals.ts';
import { Refusal } from '../values/refusal.ts';
import { connectionUnused, messageTooLarge } from './conditions.ts';
import { createClaims } from './link/claims.ts';
import { completeFrames } from './link/completeFrames.ts';
import { echoAttach } from './link/echo.ts';
import { guardFrames, guardMessages } from './link/guard.ts';
import { watchIdleConnection } from './link/idleConnection.ts';
import { grantCredit, takeName, trackLink } from './link/links.ts';
import { boundMessages } from './link/oversize.ts';
import { dispositions, type Node, notFound, type Peer, refuse } from './link/peer.ts';
import { serveSessions } from './link/sessions.ts';
import { offerMechanisms } from './sasl.ts';

/** The AMQP 1.0 side of the hub: give it streams and it serves the clients behind them. */
export interface AmqpServer {
  accept(socket: Duplex): void;
  /** Close every connection, saying that the hub stops. */
  close(): void;
}

/** What links find at a path; undefined when there is nothing of that name. */
export type Directory = (path: string, direction: 'serve' | 'accept') => Node | undefined;

// what Event Hubs announces; IoT Hub has the same, but channels to 8191 for devices and services
const idleTimeoutMs = 240_000;
const channelMax = 4_999;
const maxFrameSize = 65_536;
const leastFrameSize = 512; // by the AMQP specification
const partitionOf = (path: string): string | undefined => /\/Partitions\/([^/]+)$/i.exec(path)?.[1];
const expired = { condition: 'amqp:unauthorized-access', description: 'The token of this link has expired.' };

/**
 * An AMQP server with the nodes of `directory`. A client may put tokens after SASL ANONYMOUS or no SASL layer at all, or send
 * a name and password of which `login` makes a claim, or which it refuses.
 */
export function createAmqpServer(
  hub: HubCore,
  directory: Directory,
  login: (username: string, password: string) => Claim,
): AmqpServer {
  const { name: containerId, connections, throttle, faults, bounds, idle, otherwise, now } = hub;
  const container = rhea.create_container({ id: containerId });
  const open = new Set<Pick<HubConnection, 'close'>>();
  // whatever a peer sends, the worst that happens is the end of its own connection
  for (const event of [
    'error',
    'protocol_error',
    'connection_error',
    'session_error',
    'receiver_error',
    'sender_error',
    'disconnected',
  ])
    container.on(event, () => undefined);

  const admit = (link: Sender | Receiver, hubLink: Link, peer: Peer, direction: 'serve' | 'accept'): void => {
    const { connection } = peer;
    const { address, path } = hubLink;
    const kind = kindOfPath(path);
    connection.kind ??= kind;
    const refused = faults.strike('refuse-link', {
      connections: connection.kind,
      address,
      partition: partitionOf(path),
    });
    if (refused) throw new Refusal(refused.fault.condition ?? 'amqp:internal-error', 'A fault refuses this link.');
    if (kind === 'service' || kind === 'device') throttle.take('connect');
    const node = directory(path, direction);
    if (direction === 'serve' && node?.serve) node.serve(link as Sender, peer, hubLink);
    else if (direction === 'accept' && node?.accept) {
      grantCredit(link as Receiver, hubLink, faults);
      node.accept(link as Receiver, peer, hubLink);
    } else throw notFound(address);
  };

  const attach = (link: Sender | Receiver, address: unknown, peer: Peer, direction: 'serve' | 'accept'): void => {
    const hubLink = trackLink(link, String(address), peer.connection);
    peer.idle.attached(hubLink);
    if (direction === 'accept') {
      guardMessages(link as Receiver, (delivery, { condition, message }) =>
        dispositions(delivery).reject(condition, message),
      );
      boundMessages(link as Receiver, bounds.message, (...found) => refuseTooLarge(hubLink, ...found));
    }
    try {
      if (typeof address !== 'string') throw notFound(String(address));
      takeName(link, hubLink);
      admit(link, hubLink, peer, direction);
      echoAttach(link);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      refuse(hubLink, linkRefusal(error, otherwise));
    }
  };

  const refuseTooLarge = (hubLink: Link, delivery: Delivery, size: number): void => {
    const refusal = messageTooLarge(delivery.id, size, bounds.message);
    dispositions(delivery).reject(refusal.condition, refusal.message);
    // IoT Hub ends the link, Event Hubs does not
    if (kindOfPath(hubLink.path) !== 'events') refuse(hubLink, refusal);
  };

  return {
    accept(socket) {
      socket.setMaxListeners(0);
      const connection = container.create_connection({
        container_id: containerId,
        idle_time_out: idleTimeoutMs,
        max_frame_size: maxFrameSize,
        channel_max: channelMax,
        sender_options: { snd_settle_mode: 1, max_message_size: bounds.message },
        receiver_options: { autoaccept: false, credit_window: 0, max_message_size: bounds.message },
        port: 0,
      });
      let password: Claim | undefined;
      const claims = createClaims(now, () => {
        for (const link of [...hubConnection.links]) if (link.allowed?.() === false) link.detach(expired, true);
        if (password && password.expiresAt <= now()) hubConnection.close(expired);
      });
      const hubConnection = connections.open({
        protocol: 'amqp',
        kind: undefined,
        deviceId: undefined,
        socket,
        close(reason, links = 'detached') {
          hubConnection.unanswerable = true;
          if (links === 'detached') endLinks(hubConnection, connection, reason);
          connection.close(reason);
          setImmediate(() => endSoon(socket));
        },
        expire: claims.expire,
      });
      const unused = watchIdleConnection(idle, (ms) => hubConnection.close(connectionUnused(containerId, ms)));
      const peer: Peer = { socket, connection: hubConnection, claims, idle: unused, replies: new Map(), unwritten: 0 };
      open.add(hubConnection);
      connection.on('connection_open', () => {
        if (!(Number(connection.max_frame_size ?? leastFrameSize) >= leastFrameSize)) {
          socket.destroy();
          throw new RangeError('No message fits into the frames of this client.'); // nothing that it has sent is read
        }
        hubConnection.client = clientOf(connection);
      });
      connection.on('sender_open', ({ sender }: EventContext) => {
        if (sender) attach(sender, sender.source?.address, peer, 'serve');
      });
      connection.on('receiver_open', ({ receiver }: EventContext) => {
        if (receiver) attach(receiver, receiver.target?.address, peer, 'accept');
      });
      const silence = setTimeout(() => socket.destroy(), idle.beginning);
      socket.once('data', () => clearTimeout(silence));
      socket.on('close', () => {
        clearTimeout(silence);
        open.delete(hubConnection);
        claims.end();
        unused.end();
        connection['eof'](); // rhea hears of an end, not of a reset: its timers must stop all the same
      });
      const authenticate = (name: string, text: string): boolean => {
        try {
          password = login(name, text);
        } catch (error) {
          if (error instanceof Refusal) return false;
          throw error;
        }
        claims.put('SASL PLAIN', password);
        return true;
      };
      offerMechanisms(connection, authenticate, () => endSoon(socket));
      connection['accept'](socket);
      guardFrames(connection, () => socket.destroy());
      completeFrames(connection);
      serveSessions(connection, { sessions: channelMax + 1, links: bounds.links }, hubConnection.close);
      // rhea would wait for the rest of a frame of any announced size, and keep any number of answers
      socket.on('data', () => {
        if (connection['frame_size'] > maxFrameSize || socket.writableLength > bounds.unread) socket.destroy();
      });
    },

    close() {
      for (const each of open) each.close({ condition: 'amqp:connection:forced', description: 'The hub stops.' });
    },
  };
}

/** What a client says of itself when it opens a connection. */
function clientOf({ properties, container_id: container }: Connection): string {
  const { 'user-agent': agent, product, version }: Record<string, unknown> = properties ?? {};
  const named = agent ?? [product, version].filter((part) => part !== undefined && part !== null).join(' ');
  return String(named || container).slice(0, 256);
}

function endLinks({ links }: HubConnection, connection: Connection, reason: Reason | undefined): void {
  for (const link of [...links]) link.detach(reason, true);
  const { local_channel_map: sessions } = connection as unknown as ConnectionState;
  for (const session of Object.values(sessions)) session.end(reason);
}

/** A part of rhea's connections that its typings leave out. */
interface ConnectionState {
  readonly local_channel_map: Readonly<Record<number, { end(reason: Reason | undefined): void }>>;
}
