import type { Reason } from '../network/connections.ts';
import type { Registry } from './registry.ts';

/** The devices and modules that are connected, over any protocol. */
export interface Presence {
  /**
   * A device or module connects; call the answer when it disconnects. Another connection of the same one is ended first.
   * `end` closes what this connection has of it.
   */
  enter(clientId: string, end: (reason: Reason) => void): () => void;
  isConnected(clientId: string): boolean;
  /** When its state last changed, in milliseconds since 1970; 0 when it was never there. */
  since(clientId: string): number;
  /** End the connection of a device or module, if there is one. */
  end(clientId: string, reason: Reason): void;
}

interface DeviceConnection {
  end: (reason: Reason) => void;
}

/** The presence of all devices and modules. A deleted or disabled one is disconnected. `now` gives milliseconds since 1970. */
export function createPresence(registry: Registry, now: () => number): Presence {
  const present = new Map<string, DeviceConnection>();
  const changed = new Map<string, number>();

  const leave = (clientId: string, connection: DeviceConnection): void => {
    if (present.get(clientId) !== connection) return;
    present.delete(clientId);
    changed.set(clientId, now());
  };
  const end = (clientId: string, reason: Reason): void => {
    const connection = present.get(clientId);
    if (!connection) return;
    leave(clientId, connection);
    connection.end(reason);
  };

  registry.watch((change, { clientId, moduleId, status }) => {
    const description = change === 'deleted' ? 'the device was deleted' : 'the device was disabled';
    const reason = { condition: 'amqp:unauthorized-access', description };
    if (change !== 'deleted' && status === 'enabled') return;
    const affected = moduleId === undefined ? registry.modules(clientId).map((module) => module.clientId) : [];
    for (const each of [clientId, ...affected]) end(each, reason);
    if (change === 'deleted') changed.delete(clientId);
  });

  return {
    enter(clientId, endIt) {
      end(clientId, { condition: 'amqp:link:stolen', description: 'the device connected again' });
      const connection = { end: endIt };
      present.set(clientId, connection);
      changed.set(clientId, now());
      return () => leave(clientId, connection);
    },
    isConnected: (clientId) => present.has(clientId),
    since: (clientId) => changed.get(clientId) ?? 0,
    end,
  };
}
