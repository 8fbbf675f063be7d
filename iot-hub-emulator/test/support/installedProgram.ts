import { existsSync } from 'node:fs';
import { EventHubConsumerClient } from '@azure/event-hubs';
import device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import iothub from 'azure-iothub';
import { type Hub, startHub } from 'iot-hub-emulator';
import { createAdminClient } from 'iot-hub-emulator/admin';
import { hubAgent, leadToHub, trustHub } from 'iot-hub-emulator/clients';
import { WebSocket } from 'ws';

// A program of a project that has installed the package: each official client, unmodified, started without NODE_EXTRA_CA_CERTS.
// It is copied there and compiled. Prints which clients worked.

const worked: string[] = [];
const directory = await withHub(async (hub) => {
  await devices(hub);
  await services(hub);
  await events(hub);
  await journal(hub);
});
worked.push(existsSync(directory) ? 'the directory is left' : 'cleaned up');
process.stdout.write(JSON.stringify(worked), () => process.exit());

async function withHub(use: (hub: Hub) => Promise<void>): Promise<string> {
  await using hub = await startHub({ devices: [{ deviceId: 'pump-1' }] });
  using _ = trustHub(hub);
  await use(hub);
  return hub.directory;
}

async function devices(hub: Hub) {
  const address = hub.deviceConnectionString('pump-1');
  const withoutPort = address.replace(/:\d+/, '');
  for (const [name, Transport, connectionString] of [
    ['Mqtt', mqtt.Mqtt, address],
    ['MqttWs', mqtt.MqttWs, withoutPort],
    ['Amqp', amqp.Amqp, address],
    ['AmqpWs', amqp.AmqpWs, withoutPort],
  ] as const) {
    const client = await leadToHub(hub, device.Client.fromConnectionString(connectionString, Transport));
    await client.open();
    await client.sendEvent(new device.Message(name));
    await client.close();
    worked.push(`device ${name}`);
  }
}

async function services(hub: Hub) {
  const registry = await leadToHub(hub, iothub.Registry.fromConnectionString(hub.connectionString('iothubowner')));
  const { responseBody } = await registry.get('pump-1');
  worked.push(`registry ${responseBody.deviceId}`);

  const client = await leadToHub(hub, iothub.Client.fromConnectionString(hub.serviceConnectionString));
  await client.open();
  await client.send('pump-1', new device.Message('to it') as never);
  await client.close();
  worked.push('service Amqp');

  const pump = device.Client.fromConnectionString(hub.deviceConnectionString('pump-1'), mqtt.Mqtt);
  await pump.open();
  pump.onDeviceMethod('stop', (_, response) => void response.send(200));
  const { result } = await client.invokeDeviceMethod('pump-1', { methodName: 'stop', connectTimeoutInSeconds: 60 });
  worked.push(`method ${result.status}`);
  await pump.close();
}

async function events(hub: Hub) {
  const plain = hub.eventsConnectionString;
  const overTls = plain
    .replace(/127\.0\.0\.1:\d+/, `localhost:${hub.ports.amqps}`)
    .replace(';UseDevelopmentEmulator=true', '');
  const webSocketOptions = { webSocket: WebSocket, webSocketConstructorOptions: { agent: hubAgent(hub) } };
  for (const [name, connectionString, options] of [
    ['TCP', plain, {}],
    ['TLS', overTls, {}],
    ['WebSockets', overTls, { webSocketOptions }],
  ] as const) {
    const client = new EventHubConsumerClient('$Default', connectionString, options);
    const { length } = await client.getPartitionIds();
    await client.close();
    worked.push(`events ${name}: ${length} partitions`);
  }
}

async function journal(hub: Hub) {
  const admin = createAdminClient(hub.adminUrl);
  const { entries } = await admin.readJournal({ kind: 'd2c' });
  const { body } = await hub.journal.next({ kind: 'c2d' });
  worked.push(`journal ${[...entries.map(({ text }) => text), body].join(', ')}`);
}
