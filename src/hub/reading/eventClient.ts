import { EventHubConsumerClient, type EventHubConsumerClientOptions } from '@azure/event-hubs';
import type { EventsAccess } from '../../identity/access.ts';
import { currentOf, isSecret } from '../../identity/rotatingSecret.ts';

/** A client of the event endpoint, by its connection string, or of a routed event hub with an identity. */
export function openEventClient(
  access: EventsAccess,
  consumerGroup: string,
  options: EventHubConsumerClientOptions,
): EventHubConsumerClient {
  if (isSecret(access)) return new EventHubConsumerClient(consumerGroup, currentOf(access), options);
  const { namespace, eventHub, credential } = access;
  const [host = '', port] = namespace.split(':');
  return new EventHubConsumerClient(consumerGroup, host, eventHub, credential, {
    ...options,
    ...(port !== undefined && { customEndpointAddress: `sb://${namespace}` }),
  });
}
