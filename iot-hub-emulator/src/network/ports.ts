import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { detectProtocol } from './detectProtocol.ts';
import type { HubPorts } from './hubPorts.ts';
import { type Listener, listen, listenWith, type Place } from './listener.ts';
import type { Reach } from './reach.ts';

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
  reach: Pick<Reach, 'host' | 'adminHost'>;
  ports: HubPorts;
  open: Map<keyof HubPorts, Listener>;
  tls: { key: string; cert: string };
  /** How long a connection may take to begin, in milliseconds. */
  beginningMs: number;
  servers: Servers;
  intercept: (port: keyof HubPorts, socket: Socket) => boolean;
}): Promise<void> {
  const { wanted, reach, ports, open, tls, beginningMs, servers, intercept } = options;
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
  const placeOf = (name: keyof HubPorts): Place => ({ port: wanted[name] ?? 0, host: reach.host });
  const interceptAt = (name: keyof HubPorts) => (socket: Socket) => intercept(name, socket);
  const secure = (name: keyof HubPorts, fallback: keyof typeof handlers) =>
    listen(
      placeOf(name),
      { ...tls, handshakeMs: beginningMs },
      detectProtocol(handlers, fallback, beginningMs),
      interceptAt(name),
    );

  enter('amqp', await listen(placeOf('amqp'), undefined, amqp.accept, interceptAt('amqp')));
  enter('amqps', await secure('amqps', 'amqp'));
  enter('mqtts', await secure('mqtts', 'mqtt'));
  if (wanted.https === undefined) ports.https = ports.amqps;
  else enter('https', await secure('https', 'http'));
  enter('admin', await listenWith(admin, { port: wanted.admin ?? 0, host: reach.adminHost }));
}
