import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { reading } from '../../../src/settings/constants.ts';
import { environment } from './environment.ts';

/** Consumes with the hub's client, with the service's own options, and does nothing. */

const consumer = new EventHubConsumerClient('$Default', environment.eventsConnectionString);
consumer.subscribe(
  { async processEvents() {}, async processError() {} },
  {
    ...{ startPosition: earliestEventPosition, maxBatchSize: reading.batchSize, prefetchCount: reading.prefetch },
    maxWaitTimeInSeconds: reading.maxWaitSeconds,
    skipParsingBodyAsJson: true,
  },
);
process.send?.('ready');
