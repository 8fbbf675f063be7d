#!/usr/bin/env bash
# @azure/event-hubs: the user id of a message, which AMQP defines as binary, is no Buffer in systemProperties but a plain object with a number for each
# byte. JSON, logs and databases get {"0":111,…}; String() gives [object Object].
. "$(dirname "$0")/common.sh"
packages @azure/event-hubs@6.0.4 rhea@3.0.5
seen <<'JS'
import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { connectionString, startHub } from './eventHub.mjs';

const hub = await startHub();
hub.append('x', { user_id: Buffer.from('op') });
const client = new EventHubConsumerClient('$Default', connectionString(hub.port));
const { userId } = await new Promise((resolve) => {
  const processEvents = async ([event]) => event && resolve(event.systemProperties);
  client.subscribe('0', { processEvents, processError: async () => {} }, { startPosition: earliestEventPosition });
});
console.log(`Buffer: ${Buffer.isBuffer(userId)}, as text: ${String(userId)}, as JSON: ${JSON.stringify(userId)}`);
await client.close();
hub.close();
JS
expected <<'TEXT'
Buffer: false, as text: [object Object], as JSON: {"0":111,"1":112}
TEXT
