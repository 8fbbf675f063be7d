import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { Client } from 'azure-iothub';
import { Message } from '../../../src/hub/replies/serviceSdk.ts';
import { reading } from '../../../src/settings/groups/constants.ts';
import { environment } from './environment.ts';

/** Consumes with the hub's client and answers at once, asking nobody. */

const client = Client.fromConnectionString(environment.serviceConnectionString);
await client.open();

new EventHubConsumerClient('$Default', environment.eventsConnectionString).subscribe(
  {
    async processEvents(events) {
      for (const { properties = {}, systemProperties = {} } of events) {
        const message = new Message('{"success":true}');
        message.properties.add('correlationId', properties['correlationId']);
        void client.send(systemProperties['iothub-connection-device-id'], message);
      }
    },
    async processError() {},
  },
  {
    startPosition: earliestEventPosition,
    maxBatchSize: reading.batchSize,
    prefetchCount: reading.prefetch,
    maxWaitTimeInSeconds: reading.maxWaitSeconds,
    skipParsingBodyAsJson: true,
  },
);
process.send?.('ready');
