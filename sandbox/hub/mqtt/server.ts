import type { Duplex } from 'node:stream';
import type { HubCore } from '../core.ts';
import { type MqttConnection, serve } from './connection.ts';

/** The MQTT 3.1.1 side of the hub: give it streams and it serves the devices behind them. */
export interface MqttServer {
  accept(socket: Duplex): void;
  close(): void;
}

/** What a connection needs of the hub, and what connections of the same device share. */
export interface MqttHub extends HubCore {
  /** Subscriptions that outlive their connection (clean session 0), by client id: topic and QoS. */
  subscriptions: Map<string, Map<string, 0 | 1>>;
}

/** An MQTT server. Packets are handled as a hub does, not as a broker: nothing goes from device to device. */
export function createMqttServer(core: HubCore): MqttServer {
  const hub: MqttHub = { ...core, subscriptions: new Map() };
  const sockets = new Map<Duplex, MqttConnection>();

  core.registry.watch((change, { clientId }) => {
    if (change === 'deleted') hub.subscriptions.delete(clientId);
  });

  return {
    accept(socket) {
      sockets.set(socket, serve(socket, hub));
      socket.on('close', () => sockets.delete(socket));
    },
    close() {
      for (const connection of sockets.values()) connection.end('the hub stops');
    },
  };
}
