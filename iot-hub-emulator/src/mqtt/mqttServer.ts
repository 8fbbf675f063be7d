import type { Duplex } from 'node:stream';
import type { HubCore } from '../core/core.ts';
import { type MqttConnection, serve } from './connection.ts';
import type { MqttHub } from './mqttHub.ts';

/** The MQTT 3.1.1 side of the hub: give it streams and it serves the devices behind them. */
export interface MqttServer {
  accept(socket: Duplex): void;
  close(): void;
}

/** An MQTT server. Packets are handled as a hub does, not as a broker: nothing goes from device to device. */
export function createMqttServer(core: HubCore): MqttServer {
  const hub: MqttHub = { ...core, sessions: new Map() };
  const sockets = new Map<Duplex, MqttConnection>();

  core.registry.watch((change, { clientId }) => {
    if (change === 'deleted') hub.sessions.delete(clientId);
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
