import { EventHubConsumerClient } from '@azure/event-hubs';
import { expect, it } from 'vitest';
import type { Partition } from '../../src/hub/partition/partition.ts';
import { createReader } from '../../src/hub/reading/reader.ts';
import { createLog } from '../../src/log.ts';

/** Nobody listens there: the client subscribes, and goes on trying. */
const nowhere =
  'Endpoint=sb://127.0.0.1:1;SharedAccessKeyName=a;SharedAccessKey=Yg==;EntityPath=hub;UseDevelopmentEmulator=true';

const partition: Partition = {
  admit: async () => {},
  position: () => undefined,
  drain: async () => 0,
  abandon: () => {},
};

it('subscribes again with the client it has, as often as it takes', async () => {
  const client = new EventHubConsumerClient('$Default', nowhere);
  const reader = createReader(client, {
    partitionId: '0',
    partition,
    epoch: 1,
    startPosition: 'earliest',
    batchSize: 1,
    prefetch: 1,
    maxWaitSeconds: 1,
    lost: () => {},
    log: createLog('silent'),
  });
  expect(() => reader.restart(client)).not.toThrow();
  expect(() => reader.restart(client)).not.toThrow();
  await reader.close();
  await client.close();
});
