import type { Socket } from 'node:net';
import type { Access } from '../access.ts';
import type { Connections } from '../connections.ts';
import type { Devicebound } from '../devicebound.ts';
import type { Events } from '../events.ts';
import type { StandingFaults } from '../faults/standing.ts';
import type { Journal } from '../journal.ts';
import type { Presence } from '../presence.ts';
import type { Registry } from '../registry.ts';
import { type MqttConnection, serve } from './connection.ts';

/** The MQTT 3.1.1 side of the hub: give it TLS sockets and it serves the devices behind them. */
export interface MqttServer {
  accept(socket: Socket): void;
  close(): void;
}

/** What a connection needs of the hub, and what connections of the same device share. */
export interface MqttHub {
  access: Access;
  events: Events;
  devicebound: Devicebound;
  presence: Presence;
  journal: Journal;
  faults: StandingFaults;
  /** The hub's connections of all protocols. */
  everybody: Connections;
  now: () => number;
  /** QoS of subscriptions that outlive their connection (clean session 0), by client id. */
  subscriptions: Map<string, 0 | 1>;
}

/** An MQTT server. Packets are handled as a hub does, not as a broker: nothing goes from device to device. */
export function createMqttServer(options: Omit<MqttHub, 'subscriptions'> & { registry: Registry }): MqttServer {
  const { registry, ...parts } = options;
  const hub: MqttHub = { ...parts, subscriptions: new Map() };
  const sockets = new Map<Socket, MqttConnection>();

  registry.watch((change, { clientId }) => {
    if (change === 'deleted') hub.subscriptions.delete(clientId);
  });

  return {
    accept(socket) {
      socket.setNoDelay(true);
      sockets.set(socket, serve(socket, hub));
      socket.on('close', () => sockets.delete(socket));
    },
    close() {
      for (const connection of sockets.values()) connection.end('the hub stops');
    },
  };
}
