import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, type Connections, type Link, type Reason, takesRequests } from '../network/connections.ts';
import { reset } from '../network/listener.ts';
import type { FaultOf, ImmediateFault } from './schema.ts';
import type { StandingFaults } from './standing.ts';

/** What immediate faults strike. */
export interface FaultTargets {
  connections: Connections;
  standing: StandingFaults;
  /** Close all ports but that of admin, or open them again as far as no fault closes them. */
  restarting: (isDown: boolean) => Promise<void>;
  /** Go over to the other region, and lose what is lost with that. */
  failOver: (fault: FaultOf<'failover'>) => void;
  /** Append events as if a device (one of all, if none is named) had sent them. */
  burst: (fault: FaultOf<'burst'>) => Promise<number>;
}

const reasonOf = (condition: string | undefined): Reason | undefined =>
  condition === undefined ? undefined : { condition, description: 'A fault of the sandbox hub.' };

/** Strike now. The answer counts the connections, links or events it struck. */
export async function strikeNow(fault: ImmediateFault, targets: FaultTargets): Promise<number> {
  switch (fault.kind) {
    case 'drop':
      return applyToAll(connectionsOf(fault, targets), (connection) => cut(connection, fault.how ?? 'rst'));
    case 'close':
      return applyToAll(connectionsOf(fault, targets), (connection) =>
        connection.close(reasonOf(fault.condition), fault.links),
      );
    case 'expire-tokens':
      return applyToAll(connectionsOf(fault, targets), (connection) => connection.expire());
    case 'detach':
      return applyToAll(linksOf(fault, targets), (link) =>
        link.detach(reasonOf(fault.condition), fault.closed ?? true),
      );
    case 'mute':
      return applyToAll(connectionsOf(fault, targets), (connection) => {
        connection.muted = true;
      });
    case 'steal':
      return applyToAll(receiversOf(fault, targets), (link) => link.detach(stolen, true));
    case 'move':
      return move(fault, targets);
    case 'failover':
      targets.failOver(fault);
      return applyToAll(targets.connections.list(), (connection) => connection.close(failedOver));
    case 'redeliver':
      return receiversOf(fault, targets).reduce((sum, link) => sum + (link.rewind?.(fault.events) ?? 0), 0);
    case 'burst':
      return targets.burst(fault);
    case 'restart':
      return restart(fault, targets);
  }
}

const stolen = {
  condition: 'amqp:link:stolen',
  description: 'A receiver with a higher owner level took this partition.',
};
const failedOver = { condition: 'amqp:connection:forced', description: 'The hub fails over.' };
const moved = { condition: 'amqp:link:detach-forced', description: 'The partition moves to another node.' };

/** End the socket of a connection without the close of its protocol. */
export function cut(connection: Connection, how: 'fin' | 'rst'): void {
  connection.unanswerable = true;
  if (how === 'rst') reset(connection.socket);
  else connection.socket.end();
}

function move({ partition, ms = 0 }: FaultOf<'move'>, targets: FaultTargets): number {
  const refusal = targets.standing.add({
    kind: 'refuse-link',
    connections: 'events',
    partition,
    condition: 'com.microsoft:server-busy',
  });
  setTimeout(() => targets.standing.clear(refusal.id), ms).unref();
  return applyToAll(receiversOf({ partition }, targets), (link) => link.detach(moved, true));
}

async function restart({ downMs = 0 }: FaultOf<'restart'>, targets: FaultTargets): Promise<number> {
  await targets.restarting(true);
  const struck = applyToAll(targets.connections.list(), (connection) => cut(connection, 'rst'));
  await sleep(downMs);
  await targets.restarting(false);
  return struck;
}

interface FaultScope {
  connections?: string | undefined;
  deviceId?: string | undefined;
  connection?: number | undefined;
  address?: string | undefined;
  partition?: string | undefined;
  group?: string | undefined;
}

function connectionsOf(scope: FaultScope, { connections }: FaultTargets): Connection[] {
  return connections
    .list()
    .filter(
      ({ id, kind, deviceId }) =>
        (scope.connection ?? id) === id &&
        (scope.connections ?? kind) === kind &&
        (scope.deviceId ?? deviceId) === deviceId,
    );
}

function linksOf(scope: FaultScope, targets: FaultTargets): Link[] {
  const { address = '', partition, group } = scope;
  return connectionsOf(scope, targets)
    .flatMap(({ links }) => [...links])
    .filter(
      (link) =>
        (address !== '' || !takesRequests(link.path)) &&
        link.address.toLowerCase().includes(address.toLowerCase()) &&
        (partition === undefined || link.receives?.partition === partition) &&
        (group === undefined || link.receives?.group.toLowerCase() === group.toLowerCase()),
    );
}

const receiversOf = (scope: FaultScope, targets: FaultTargets): Link[] =>
  linksOf(scope, targets).filter(({ receives }) => receives !== undefined);

function applyToAll<T>(things: readonly T[], strike: (thing: T) => unknown): number {
  for (const thing of things) strike(thing);
  return things.length;
}
