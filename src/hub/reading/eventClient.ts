import { EventHubConsumerClient, type EventHubConsumerClientOptions } from '@azure/event-hubs';
import type { EventsAccess } from '../../identity/access.ts';
import { overWebSockets } from '../transport/hubTransport.ts';

/** A client of the event endpoint, by its connection string, or of a routed event hub with an identity. */
export function openEventClient(
  access: EventsAccess,
  consumerGroup: string,
  options: EventHubConsumerClientOptions,
): EventHubConsumerClient {
  const place = typeof access === 'string' ? endpointIn(access) : access.namespace;
  const webSocketOptions = overWebSockets()?.eventWebSockets(place);
  const withTransport = { ...options, ...(webSocketOptions && { webSocketOptions }) };
  if (typeof access === 'string') return new EventHubConsumerClient(consumerGroup, access, withTransport);
  const { namespace, eventHub, credential } = access;
  const { hostname, port } = new URL(`http://${namespace}`);
  return new EventHubConsumerClient(consumerGroup, hostname, eventHub, credential, {
    ...withTransport,
    ...(port !== '' && { customEndpointAddress: `sb://${namespace}` }),
  });
}

const endpointIn = (connectionString: string): string => /Endpoint=sb:\/\/([^/;]+)/.exec(connectionString)?.[1] ?? '';
