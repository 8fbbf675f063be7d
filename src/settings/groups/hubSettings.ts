import type convict from 'convict';

export const hub = {
  eventsConnectionString: {
    doc: 'Connection string of the hub’s built-in event endpoint (Event Hub-compatible), with `EntityPath` and a listen right.',
    format: 'events-connection-string',
    default: '',
    env: 'HUB_EVENTS_CONNECTION_STRING',
    sensitive: true,
  },
  serviceConnectionString: {
    doc: 'Connection string of the hub itself with the service connect right, for replies to devices and for methods of devices.',
    format: 'service-connection-string',
    default: '',
    env: 'HUB_SERVICE_CONNECTION_STRING',
    sensitive: true,
  },
  consumerGroup: {
    doc: 'Consumer group that only this service uses.',
    format: 'text',
    default: '$Default',
    env: 'HUB_CONSUMER_GROUP',
  },
  startPosition: {
    doc: 'Where a partition without a checkpoint is read from: `earliest` or `latest` (G1).',
    format: ['earliest', 'latest'],
    default: 'earliest',
    env: 'HUB_START_POSITION',
  },
} satisfies convict.Schema<unknown>;
