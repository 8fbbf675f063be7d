import { EventHubConsumerClient, type EventHubConsumerClientOptions } from '@azure/event-hubs';
import type { EventsAccess } from '../../identity/access.ts';
import { currentOf, isSecret } from '../../identity/secretFiles.ts';
import { overWebSockets } from '../transport/hubTransport.ts';

/** A client of the event endpoint, by its connection string, or of a routed event hub with an identity. */
export function openEventClient(
  access: EventsAccess,
  consumerGroup: string,
  options: EventHubConsumerClientOptions,
): EventHubConsumerClient {
  const place = isSecret(access) ? endpointIn(currentOf(access)) : access.namespace;
  const webSocketOptions = overWebSockets()?.eventWebSockets(place);
  const withTransport = { ...options, ...(webSocketOptions && { webSocketOptions }) };
  if (isSecret(access)) return new EventHubConsumerClient(consumerGroup, currentOf(access), withTransport);
  const { namespace, eventHub, credential } = access;
  const { hostname, port } = new URL(`http://${namespace}`);
  return new EventHubConsumerClient(consumerGroup, hostname, eventHub, credential, {
    ...withTransport,
    ...(port !== '' && { customEndpointAddress: `sb://${namespace}` }),
  });
}

const endpointIn = (connectionString: string): string => /Endpoint=sb:\/\/([^/;]+)/.exec(connectionString)?.[1] ?? '';
