import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { detectProtocol } from './detectProtocol.ts';
import type { HubPorts } from './hubPorts.ts';
import { type Listener, listen, listenWith } from './listener.ts';

/** The servers behind the ports. */
export interface Servers {
  amqp: { accept(stream: Duplex): void };
  mqtt: { accept(stream: Duplex): void };
  rest: Server;
  admin: Server;
}

/**
 * Open the ports that `wanted` asks for (0 or absent: free ones), one by one, and enter them in `ports` and `open`. A
 * connection that `intercept` takes over, before anything is read from it, is not served; the admin port is not asked.
 */
export async function openPorts(options: {
  wanted: Partial<HubPorts>;
  ports: HubPorts;
  open: Map<keyof HubPorts, Listener>;
  tls: { key: string; cert: string };
  /** How long a connection may take to begin, in milliseconds. */
  beginningMs: number;
  servers: Servers;
  intercept: (port: keyof HubPorts, socket: Socket) => boolean;
}): Promise<void> {
  const { wanted, ports, open, tls, beginningMs, servers, intercept } = options;
  const { amqp, mqtt, rest, admin } = servers;
  const handlers = {
    amqp: amqp.accept,
    mqtt: mqtt.accept,
    http: (socket: Socket) => void rest.emit('connection', socket),
  };
  const enter = (name: keyof HubPorts, listener: Listener): void => {
    open.set(name, listener);
    ports[name] = listener.port;
  };
  const interceptAt = (name: keyof HubPorts) => (socket: Socket) => intercept(name, socket);
  const secure = (name: keyof HubPorts, fallback: keyof typeof handlers) =>
    listen(
      wanted[name] ?? 0,
      { ...tls, handshakeMs: beginningMs },
      detectProtocol(handlers, fallback, beginningMs),
      interceptAt(name),
    );

  enter('amqp', await listen(wanted.amqp ?? 0, undefined, amqp.accept, interceptAt('amqp')));
  enter('amqps', await secure('amqps', 'amqp'));
  enter('mqtts', await secure('mqtts', 'mqtt'));
  if (wanted.https === undefined) ports.https = ports.amqps;
  else enter('https', await secure('https', 'http'));
  enter('admin', await listenWith(admin, wanted.admin ?? 0));
}
