import type convict from 'convict';
import { secret } from './secret.ts';

export const hub = {
  ...secret('eventsConnectionString', {
    doc: 'Connection string of the hub’s built-in event endpoint (Event Hub-compatible), with `EntityPath` and a listen right. Without it, the endpoint is looked up through `HUB_SERVICE_CONNECTION_STRING`, and again to notice a failover (D401, D402).',
    format: 'events-connection-string',
    env: 'HUB_EVENTS_CONNECTION_STRING',
  }),
  eventsNamespace: {
    doc: 'Instead of that connection string: host name of the Event Hubs namespace with the event hub to which the hub routes its messages, read with `IDENTITY`.',
    format: 'host-name',
    default: '',
    env: 'HUB_EVENTS_NAMESPACE',
  },
  eventsName: {
    doc: 'Name of that event hub.',
    format: 'optional-text',
    default: '',
    env: 'HUB_EVENTS_NAME',
  },
  eventsSenders: {
    doc: '`hub-only` states that nobody but the IoT hub may send to that event hub: who may send can name any device as the sender. Without it, it is not read (D367).',
    format: ['', 'hub-only'],
    default: '',
    env: 'HUB_EVENTS_SENDERS',
  },
  ...secret('serviceConnectionString', {
    doc: 'Connection string of the hub itself with the service connect right, for replies to devices and for methods of devices.',
    format: 'service-connection-string',
    env: 'HUB_SERVICE_CONNECTION_STRING',
  }),
  hostName: {
    doc: 'Instead of that connection string: host name of the hub, for replies and methods with `IDENTITY`.',
    format: 'host-name',
    default: '',
    env: 'HUB_HOST_NAME',
  },
  transport: {
    doc: 'How the hub is read and sent replies: `amqp` (AMQP over TLS, port 5671) or `websockets` (AMQP over WebSockets, port 443, as firewalls and proxies allow) (D405).',
    format: ['amqp', 'websockets'],
    default: 'amqp',
    env: 'HUB_TRANSPORT',
  },
  consumerGroup: {
    doc: 'Consumer group that only this service uses.',
    format: 'text',
    default: '$Default',
    env: 'HUB_CONSUMER_GROUP',
  },
  startPosition: {
    doc: 'Where a partition without a checkpoint is read from: `earliest` or `latest` (G1). After a failover, `latest` passes over what has come before the start (D403).',
    format: ['earliest', 'latest'],
    default: 'earliest',
    env: 'HUB_START_POSITION',
  },
} satisfies convict.Schema<unknown>;
