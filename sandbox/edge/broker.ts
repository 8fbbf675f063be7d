import { createServer, type Socket } from 'node:net';
import { Aedes, type AuthenticateError } from 'aedes';

/** Who may connect, and what they may do there. A topic ends with `/#` for all below it. */
export interface BrokerUser {
  readonly password: string;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** An MQTT broker on this machine. */
export interface Broker {
  readonly port: number;
  readonly url: string;
  /** Topics to which a user is subscribed, over all connections that are open. */
  subscriptionsOf(username: string): readonly string[];
  /** Ends every connection of this user. */
  disconnect(username: string): void;
  close(): Promise<void>;
}

interface BrokerOptions {
  readonly users: Readonly<Record<string, BrokerUser>>;
  /** 0 or absent: a free one. */
  readonly port?: number;
}

/**
 * Starts a broker with access rules: a publication that is not allowed ends the connection, a subscription that is not
 * allowed is refused.
 */
export async function startBroker({ users, port = 0 }: BrokerOptions): Promise<Broker> {
  const nameOf = new Map<object, string>();
  const userOf = (client: object | null) => {
    const name = client && nameOf.get(client);
    return name === null || name === undefined ? undefined : users[name];
  };
  const sockets = new Map<Socket, object>();
  const broker = await Aedes.createBroker({
    authenticate(client, username, password, done) {
      const user = username !== undefined && Object.hasOwn(users, username) ? users[username] : undefined;
      if (username !== undefined && user?.password === password?.toString()) {
        nameOf.set(client, username);
        done(null, true);
      } else {
        done(Object.assign(new Error('wrong name or password'), { returnCode: 4 }) as AuthenticateError, false);
      }
    },
    authorizePublish(client, { topic }, done) {
      const isAllowed = userOf(client)?.publish.some((allowed) => covers(allowed, topic));
      done(isAllowed ? null : new Error(`may not publish to ${topic}`));
    },
    authorizeSubscribe(client, subscription, done) {
      const isAllowed = userOf(client)?.subscribe.some((allowed) => covers(allowed, subscription.topic));
      done(null, isAllowed ? subscription : null);
    },
  });
  const subscriptions = new Map<object, Set<string>>();
  broker.on('subscribe', (added, client) => {
    const topics = subscriptions.get(client) ?? new Set();
    for (const { topic } of added) topics.add(topic);
    subscriptions.set(client, topics);
  });
  broker.on('unsubscribe', (removed, client) => {
    for (const topic of removed) subscriptions.get(client)?.delete(topic);
  });
  const server = createServer((socket) => {
    const client = broker.handle(socket);
    sockets.set(socket, client);
    socket.on('close', () => {
      sockets.delete(socket);
      nameOf.delete(client);
      subscriptions.delete(client);
    });
    socket.on('error', () => socket.destroy());
  });
  // An error of a client ends its connection.
  broker.on('clientError', () => {}).on('connectionError', () => {});
  await new Promise<void>((resolve, reject) => {
    // Its timers would keep the process alive.
    server.once('error', (error) => broker.close(() => reject(error)));
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  const listening = typeof address === 'object' && address ? address.port : 0;

  return {
    port: listening,
    url: `mqtt://127.0.0.1:${listening}`,
    subscriptionsOf: (username) =>
      [...subscriptions].flatMap(([client, topics]) => (nameOf.get(client) === username ? [...topics] : [])),
    disconnect(username) {
      for (const [socket, client] of sockets) if (nameOf.get(client) === username) socket.destroy();
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets.keys()) socket.destroy();
      await new Promise<void>((resolve) => broker.close(resolve));
      await closed;
    },
  };
}

/** A subscription is covered when all that it matches is. */
function covers(allowed: string, topic: string): boolean {
  if (!allowed.endsWith('/#')) return allowed === topic;
  return topic.startsWith(allowed.slice(0, -1));
}
