import type { Reason } from '../network/connections.ts';
import type { Registry } from './registry.ts';

/** Who is connected, whatever protocol it speaks. */
export interface Presence {
  /**
   * A device or module is there, until the answer is called. Another connection of the same one is ended first. `end`
   * closes what this connection has of it.
   */
  enter(clientId: string, end: (reason: Reason) => void): () => void;
  isConnected(clientId: string): boolean;
  /** When its state last changed, in milliseconds since 1970; 0 when it was never there. */
  since(clientId: string): number;
  /** End the connection of a device or module, if there is one. */
  end(clientId: string, reason: Reason): void;
}

interface Entry {
  end: (reason: Reason) => void;
}

/** The presence of all devices and modules; who is deleted or disabled is ended. `now` gives milliseconds since 1970. */
export function createPresence(registry: Registry, now: () => number): Presence {
  const present = new Map<string, Entry>();
  const changed = new Map<string, number>();

  const leave = (clientId: string, entry: Entry): void => {
    if (present.get(clientId) !== entry) return;
    present.delete(clientId);
    changed.set(clientId, now());
  };
  const end = (clientId: string, reason: Reason): void => {
    const entry = present.get(clientId);
    if (!entry) return;
    leave(clientId, entry);
    entry.end(reason);
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
      const entry = { end: endIt };
      present.set(clientId, entry);
      changed.set(clientId, now());
      return () => leave(clientId, entry);
    },
    isConnected: (clientId) => present.has(clientId),
    since: (clientId) => changed.get(clientId) ?? 0,
    end,
  };
}
