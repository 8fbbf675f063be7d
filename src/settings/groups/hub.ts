import type convict from 'convict';
import { mostBetweenSigns } from '../measures.ts';

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
    doc: 'Consumer group that belongs to this service alone.',
    format: 'text',
    default: '$Default',
    env: 'HUB_CONSUMER_GROUP',
  },
  deviceIdProperty: {
    doc: 'System property in which the hub stamps the id of the sending device (R1).',
    format: 'text',
    default: 'iothub-connection-device-id',
    env: 'HUB_DEVICE_ID_PROPERTY',
  },
  startPosition: {
    doc: 'Where a partition without a checkpoint is read from: `earliest` or `latest` (G1).',
    format: ['earliest', 'latest'],
    default: 'earliest',
    env: 'HUB_START_POSITION',
  },
  batchSize: {
    doc: 'Most events the hub client hands over at once.',
    format: 'count',
    maximum: 10_000,
    default: 100,
    env: 'HUB_BATCH_SIZE',
  },
  prefetch: {
    doc: 'Most events the hub client holds for each partition.',
    format: 'count',
    maximum: 100_000,
    default: 300,
    env: 'HUB_PREFETCH',
  },
  maxWaitSeconds: {
    doc: 'Longest silence of a partition, in seconds, before the hub client reports that it is alive.',
    format: 'count',
    maximum: mostBetweenSigns,
    default: 2,
    env: 'HUB_MAX_WAIT_SECONDS',
  },
} satisfies convict.Schema<unknown>;
