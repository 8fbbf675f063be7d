import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { turnedAway } from './faults/faults.ts';
import type { StandingFaults } from './faults/standing.ts';
import { type Listener, listen, listenWith } from './listener.ts';
import { speakAny } from './sniff.ts';

/**
 * AMQP in plain TCP and administration over HTTP; and with TLS AMQP, MQTT, REST and WebSockets. Each of the TLS ports
 * speaks all of these, so one is enough; they are several to have the numbers that clients take for granted.
 */
export interface HubPorts {
  amqp: number;
  amqps: number;
  mqtts: number;
  /** The same as `amqps` unless asked for. WebSocket clients go to 443, whatever one tells them. */
  https: number;
  admin: number;
}

/** Who serves what comes to the ports. */
export interface Servers {
  amqp: { accept(stream: Duplex): void };
  mqtt: { accept(stream: Duplex): void };
  rest: Server;
  admin: Server;
}

/** Open the ports that `wanted` asks for (0 or absent: free ones), one by one, and enter them in `ports` and `open`. */
export async function openPorts(options: {
  wanted: Partial<HubPorts>;
  ports: HubPorts;
  open: Map<keyof HubPorts, Listener>;
  credentials: { key: string; cert: string };
  servers: Servers;
  faults: StandingFaults;
}): Promise<void> {
  const { wanted, ports, open, credentials, servers, faults } = options;
  const { amqp, mqtt, rest, admin } = servers;
  const speakers = {
    amqp: amqp.accept,
    mqtt: mqtt.accept,
    http: (socket: Socket) => void rest.emit('connection', socket),
  };
  const enter = (name: keyof HubPorts, listener: Listener): void => {
    open.set(name, listener);
    ports[name] = listener.port;
  };
  const doorkeeper = (name: keyof HubPorts) => (socket: Socket) => turnedAway(faults, name, socket);
  const secure = (name: keyof HubPorts, meant: keyof typeof speakers) =>
    listen(wanted[name] ?? 0, credentials, speakAny(speakers, meant), doorkeeper(name));

  enter('amqp', await listen(wanted.amqp ?? 0, undefined, amqp.accept, doorkeeper('amqp')));
  enter('amqps', await secure('amqps', 'amqp'));
  enter('mqtts', await secure('mqtts', 'mqtt'));
  if (wanted.https === undefined) ports.https = ports.amqps;
  else enter('https', await secure('https', 'http'));
  enter('admin', await listenWith(admin, wanted.admin ?? 0));
}
