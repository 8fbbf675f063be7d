import type { HubPorts } from '../network/hubPorts.ts';
import { Refusal } from '../values/refusal.ts';
import type { Node, Peer } from './link/peer.ts';

// with the hub's name before it, as clients write it: amqps://HOST/messages/events/$management
const form = /^(amqps?:\/\/[^/]+)?\/?messages\/events(\/(?<rest>.*))?$/i;

/** Whether an address is that of the events under the hub's own name. */
export const isOwnEventsAddress = (address: string): boolean => form.test(address);

/**
 * The events are not at the hub's own name: a client with the right to listen is redirected to their address.
 * @param eventHub its name, which is another one after a failover
 */
export function redirectNode(eventHub: () => string, ports: Readonly<HubPorts>): Node {
  const redirect = (address: string, { claims }: Peer): never => {
    if (!claims.find('listen', ['messages', 'events']))
      throw new Refusal('amqp:unauthorized-access', 'No token on this connection gives the right to listen here.');
    const rest = form.exec(address)?.groups?.['rest'];
    const eventsAddress = `amqps://localhost:${ports.amqps}/${eventHub()}${rest === undefined ? '' : `/${rest}`}`;
    throw new Refusal('amqp:link:redirect', 'The events of this hub are at another address.', {
      hostname: 'localhost',
      'network-host': 'localhost',
      port: ports.amqps,
      address: eventsAddress,
    });
  };
  return {
    serve: (sender, peer) => redirect(sender.source.address, peer),
    accept: (receiver, peer) => redirect(receiver.target.address, peer),
  };
}
