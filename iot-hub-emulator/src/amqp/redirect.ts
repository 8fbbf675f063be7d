import type { Link } from '../network/connections.ts';
import type { HubPorts } from '../network/hubPorts.ts';
import { hostWithPort } from '../network/reach.ts';
import { Refusal } from '../values/refusal.ts';
import type { Node, Peer } from './link/peer.ts';

// messages/events/$management
const form = /^messages\/events(\/(?<rest>.*))?$/i;

/** Whether a path is that of the events under the hub's own name. */
export const isOwnEventsPath = (path: string): boolean => form.test(path);

/**
 * The events are not at the hub's own name: a client with the right to listen is redirected to their address.
 * @param eventHub its name, which is another one after a failover
 */
export function redirectNode(eventHub: () => string, hostName: string, ports: Readonly<HubPorts>): Node {
  const redirect = ({ claims }: Peer, { path }: Link): never => {
    if (!claims.find('listen', ['messages', 'events']))
      throw new Refusal('amqp:unauthorized-access', 'No token on this connection gives the right to listen here.');
    const rest = form.exec(path)?.groups?.['rest'];
    const eventsAddress = `amqps://${hostWithPort(hostName, ports.amqps)}/${eventHub()}${rest === undefined ? '' : `/${rest}`}`;
    throw new Refusal('amqp:link:redirect', 'The events of this hub are at another address.', {
      hostname: hostName,
      'network-host': hostName,
      port: ports.amqps,
      address: eventsAddress,
    });
  };
  return {
    serve: (_, peer, link) => redirect(peer, link),
    accept: (_, peer, link) => redirect(peer, link),
  };
}
