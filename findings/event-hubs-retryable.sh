#!/usr/bin/env bash
# @azure/event-hubs: what an error does that leaves processEvents depends on a property of it. An ordinary one ends the reading of the partition;
# one whose `retryable` is true, as those of the client itself are, skips the batch: no second call, the partition goes on with the next event.
. "$(dirname "$0")/common.sh"
packages @azure/event-hubs@6.0.4 rhea@3.0.5
seen <<'JS'
import { setTimeout as pause } from 'node:timers/promises';
import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { connectionString, startHub } from './eventHub.mjs';

for (const retryable of [true, false]) {
  const hub = await startHub();
  const client = new EventHubConsumerClient('$Default', connectionString(hub.port));
  const told = [];
  const subscription = client.subscribe(
    '0',
    {
      async processEvents(events) {
        for (const { body } of events) told.push(`given ${body}`);
        if (told.length !== 1) return;
        hub.append('the second event');
        throw Object.assign(new Error('later'), { retryable });
      },
      processError: async ({ message }) => void told.push(`error "${message}"`),
      processClose: async (reason) => void told.push(`closed (${reason})`),
    },
    { startPosition: earliestEventPosition, maxWaitTimeInSeconds: 1, skipParsingBodyAsJson: true },
  );
  hub.append('the first event');
  while (told.length < 3) await pause(20);
  await pause(3_000); // nothing more comes
  console.log(`retryable ${retryable}: ${told.join(', ')}`);
  await subscription.close();
  await client.close();
  hub.close();
}
JS
expected <<'TEXT'
retryable true: given the first event, error "later", given the second event
retryable false: given the first event, error "later", closed (Shutdown)
TEXT
