#!/usr/bin/env bash
# azure-iothub: sends that begin before the first one has attached its link attach a link each, although client.open() has resolved. A hundred messages
# right after a start are a hundred links, which a hub throttles and a connection carries 256 of; after one send alone, all share one.
. "$(dirname "$0")/common.sh"
packages azure-iothub@1.16.6 azure-iot-common@1.13.3 rhea@3.0.5
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost 2>openssl.log
seen NODE_EXTRA_CA_CERTS=cert.pem <<'JS'
import { readFileSync } from 'node:fs';
import common from 'azure-iot-common';
import iothub from 'azure-iothub';
import rhea from 'rhea';

const container = rhea.create_container({ id: 'hub' });
const answers = new Map();
const addressOf = (link) => (link.remote.attach.target ?? link.remote.attach.source).address;
let links = 0;
container.on('sender_open', ({ sender, connection }) => {
  sender.set_source({ address: sender.source.address });
  answers.set(connection, sender);
});
container.on('receiver_open', ({ receiver }) => {
  receiver.set_target({ address: addressOf(receiver) });
  if (addressOf(receiver) === '/messages/devicebound') links += 1;
});
container.on('message', ({ message, receiver, connection }) => {
  if (addressOf(receiver) !== '$cbs') return;
  const application_properties = { 'status-code': 200, 'status-description': 'OK' };
  answers.get(connection).send({ correlation_id: message.message_id, application_properties, body: '' });
});
container.on('disconnected', () => {});
const tls = { transport: 'tls', key: readFileSync('key.pem'), cert: readFileSync('cert.pem') };
const server = container.listen({ port: 0, host: 'localhost', ...tls });
await new Promise((resolve) => server.once('listening', resolve));

for (const alone of [0, 1]) {
  const host = `localhost:${server.address().port}`;
  const client = iothub.Client.fromConnectionString(`HostName=${host};SharedAccessKeyName=service;SharedAccessKey=a2V5`);
  await client.open();
  links = 0;
  for (let sent = 0; sent < alone; sent += 1) await client.send('pump', new common.Message('x'));
  await Promise.all(Array.from({ length: 20 }, () => client.send('pump', new common.Message('x'))));
  console.log(`20 sends at once ${alone ? 'after one alone' : 'right after open()'}: ${links} links`);
  await client.close();
}
process.exit();
JS
expected <<'TEXT'
20 sends at once right after open(): 20 links
20 sends at once after one alone: 1 links
TEXT
