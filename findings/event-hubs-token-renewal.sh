#!/usr/bin/env bash
# @azure/event-hubs with a token credential: a link renews its token for ever at the interval that the lifetime of its first token gave. After a short
# first token (the rest of one that was cached), it asks for tokens of an hour again and again; after a long first one, shorter ones expire unrenewed.
. "$(dirname "$0")/common.sh"
packages @azure/event-hubs@6.0.4 rhea@3.0.5
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem 2>/dev/null
seen NODE_EXTRA_CA_CERTS=cert.pem <<'JS'
import { readFileSync } from 'node:fs';
import { EventHubConsumerClient, earliestEventPosition } from '@azure/event-hubs';
import { startHub } from './eventHub.mjs';

const hub = await startHub({ transport: 'tls', key: readFileSync('key.pem'), cert: readFileSync('cert.pem') });
const renewedBefore = 2 * 60_000; // the client renews two minutes before a token expires

async function tokensAskedFor(firstMs, laterMs) {
  let asked = 0;
  const credential = {
    async getToken() {
      asked += 1;
      const lifetime = asked === 1 ? firstMs : laterMs;
      return { token: 'token', expiresOnTimestamp: Date.now() + renewedBefore + lifetime };
    },
  };
  const options = { customEndpointAddress: `sb://localhost:${hub.port}` };
  const client = new EventHubConsumerClient('$Default', 'localhost', 'hub', credential, options);
  client.subscribe(
    '0',
    { processEvents: async () => {}, processError: async (error) => console.log(error.message) },
    { startPosition: earliestEventPosition, maxWaitTimeInSeconds: 1 },
  );
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const seen = asked;
  await client.close();
  return seen;
}

const many = await tokensAskedFor(500, 3_600_000);
console.log(`first token due after 0.5 s, all others after an hour: ${many > 5 ? 'more than 5' : many} asked for in 5 s`);
const few = await tokensAskedFor(2_000, 500);
console.log(`first token due after 2 s, all others after 0.5 s: ${few < 5 ? 'less than 5' : few} asked for in 5 s`);
hub.close();
JS
expected <<'TEXT'
first token due after 0.5 s, all others after an hour: more than 5 asked for in 5 s
first token due after 2 s, all others after 0.5 s: less than 5 asked for in 5 s
TEXT
