#!/usr/bin/env bash
# @azure/event-hubs: when the connection breaks while a partition is idle, nothing happens until maxWaitTimeInSeconds (60 unless said otherwise) is over:
# no error, no try to connect, and what comes meanwhile waits. A busy partition notices at once.
. "$(dirname "$0")/common.sh"
packages @azure/event-hubs@6.0.4 rhea@3.0.5
seen <<'JS'
import { setTimeout as pause } from 'node:timers/promises';
import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { connectionString, startHub } from './eventHub.mjs';

const hub = await startHub();
const client = new EventHubConsumerClient('$Default', connectionString(hub.port));
let waits = 0;
let isThere;
const there = new Promise((resolve) => {
  isThere = resolve;
});
client.subscribe(
  '0',
  {
    async processEvents([event]) {
      if (event === undefined) waits += 1;
      if (String(event?.body) === 'after') isThere();
    },
    processError: async ({ message }) => console.log(`error: ${message}`),
  },
  { startPosition: earliestEventPosition, maxWaitTimeInSeconds: 8, skipParsingBodyAsJson: true },
);
while (hub.links.length === 0) await pause(20);
await pause(500);
const since = performance.now();
for (const socket of hub.sockets) socket.destroy();
hub.append('after');
await there;
const seconds = (performance.now() - since) / 1000;
console.log(`the event after the break came ${seconds > 7 ? 'when the wait was over' : 'at once'}, after ${waits} empty batch`);
process.exit();
JS
expected <<'TEXT'
the event after the break came when the wait was over, after 1 empty batch
TEXT
