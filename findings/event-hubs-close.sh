#!/usr/bin/env bash
# @azure/event-hubs: neither close() of a subscription nor that of its client waits for a processEvents that runs. What looks like a clean stop gives
# the partition away in the middle of a batch: another consumer reads it while the handler still works.
. "$(dirname "$0")/common.sh"
packages @azure/event-hubs@6.0.4 rhea@3.0.5
seen <<'JS'
import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { connectionString, startHub } from './eventHub.mjs';

const hub = await startHub();
const client = new EventHubConsumerClient('$Default', connectionString(hub.port));
let begin;
let finish;
const begun = new Promise((resolve) => {
  begin = resolve;
});
const work = new Promise((resolve) => {
  finish = resolve;
});
const handlers = {
  async processEvents() {
    begin();
    await work;
    console.log('the handler has ended');
  },
  processError: async () => {},
  processClose: async (reason) => console.log(`processClose (${reason})`),
};
hub.append('work');
const subscription = client.subscribe('0', handlers, { startPosition: earliestEventPosition });
await begun;
await subscription.close();
console.log('subscription.close() has resolved');
await client.close();
console.log('client.close() has resolved');
finish();
await work;
hub.close();
JS
expected <<'TEXT'
processClose (Shutdown)
subscription.close() has resolved
client.close() has resolved
the handler has ended
TEXT
