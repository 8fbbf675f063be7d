#!/usr/bin/env bash
# @azure/event-hubs: prefetchCount is no bound. The receiver gives its whole prefetch as new credit in each cycle and forgets what is outstanding: with
# small batches the server may soon send thousands of events to a consumer that asked for a hundred, and they wait in its memory.
. "$(dirname "$0")/common.sh"
packages @azure/event-hubs@6.0.4 rhea@3.0.5
seen <<'JS'
import { setTimeout as pause } from 'node:timers/promises';
import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { connectionString, startHub } from './eventHub.mjs';

const hub = await startHub();
const client = new EventHubConsumerClient('$Default', connectionString(hub.port));
let read = 0;
const handlers = {
  processEvents: async (events) => {
    read += events.length;
  },
  processError: async () => {},
};
const options = { startPosition: earliestEventPosition, prefetchCount: 100, maxBatchSize: 1, maxWaitTimeInSeconds: 60 };
const subscription = client.subscribe('0', handlers, options);
for (let sent = 1; sent <= 50; sent += 1) {
  hub.append('x');
  while (read < sent) await pause(5);
}
while (hub.links[0].credit < 1_000) await pause(5); // or the time is over
console.log('prefetchCount 100, nothing waits, 50 events read: the server may send more than 1,000 at once');
await subscription.close();
await client.close();
hub.close();
JS
expected <<'TEXT'
prefetchCount 100, nothing waits, 50 events read: the server may send more than 1,000 at once
TEXT
