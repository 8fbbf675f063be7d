#!/usr/bin/env bash
# azure-iothub: open() of a port where nobody speaks TLS does not fail. It tries again in silence, for up to four minutes: a wrong host in the settings looks
# like a slow start. There is no option for a shorter time; a program needs a limit of its own around open().
. "$(dirname "$0")/common.sh"
packages azure-iothub@1.16.6
seen <<'JS'
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import iothub from 'azure-iothub';

let tries = 0;
const server = createServer((socket) => {
  tries += 1;
  socket.resetAndDestroy();
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const host = `127.0.0.1:${server.address().port}`;
const client = iothub.Client.fromConnectionString(`HostName=${host};SharedAccessKeyName=service;SharedAccessKey=a2V5`);
const opened = client.open().then(
  () => 'open() has resolved',
  ({ message }) => `open() has failed: ${message}`,
);
console.log(await Promise.race([opened, pause(20_000, 'nothing is said for 20 s')]));
console.log(tries > 1 ? 'meanwhile it has tried again' : 'it has tried once');
process.exit();
JS
expected <<'TEXT'
nothing is said for 20 s
meanwhile it has tried again
TEXT
