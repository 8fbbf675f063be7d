import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { environment } from './environment.ts';

/** Consumes with the hub's client, with the service's own options, and does nothing. */

const { batchSize, prefetch, maxWaitSeconds } = JSON.parse(process.env['BENCH_READING'] ?? '{}');
const consumer = new EventHubConsumerClient('$Default', environment.eventsConnectionString);
consumer.subscribe(
  { async processEvents() {}, async processError() {} },
  {
    startPosition: earliestEventPosition,
    maxBatchSize: batchSize,
    prefetchCount: prefetch,
    maxWaitTimeInSeconds: maxWaitSeconds,
    skipParsingBodyAsJson: true,
  },
);
process.send?.('ready');
