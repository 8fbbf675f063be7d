import { readFileSync } from 'node:fs';
import { EventHubConsumerClient } from '@azure/event-hubs';
import device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import iothub from 'azure-iothub';
import { createAdminClient } from 'iot-hub-emulator/admin';

// A program of another machine, started with NODE_EXTRA_CA_CERTS: each official client, unmodified, with connection strings that
// name no port. argv: them, as JSON. Prints what worked.

interface Given {
  device: string;
  /** With its certificate and key. */
  x509?: { connectionString: string; cert: string; key: string };
  owner: string;
  /** In plain TCP. */
  events: string;
  admin: { url: string; token: string };
}

const given: Given = JSON.parse(process.argv[2] ?? '{}');
const deviceId = /DeviceId=([^;]*)/.exec(given.device)?.[1] ?? '';
const worked: string[] = [];

for (const [name, Transport] of [
  ['Mqtt', mqtt.Mqtt],
  ['MqttWs', mqtt.MqttWs],
  ['Amqp', amqp.Amqp],
  ['AmqpWs', amqp.AmqpWs],
] as const) {
  const client = device.Client.fromConnectionString(given.device, Transport);
  await client.open();
  await client.sendEvent(new device.Message(name));
  await client.close();
  worked.push(`device ${name}`);
}
if (given.x509) {
  const client = device.Client.fromConnectionString(given.x509.connectionString, mqtt.Mqtt);
  const [cert, key] = [given.x509.cert, given.x509.key].map((file) => readFileSync(file, 'utf8'));
  await client.setOptions({ cert, key } as object);
  await client.open();
  await client.close();
  worked.push('device X.509');
}

const { responseBody } = await iothub.Registry.fromConnectionString(given.owner).get(deviceId);
worked.push(`registry ${responseBody.deviceId}`);

const answering = device.Client.fromConnectionString(given.device, mqtt.Mqtt);
await answering.open();
const received = new Promise<string>((resolve) => answering.on('message', ({ data }) => resolve(String(data))));
answering.onDeviceMethod('stop', (_, response) => void response.send(200, 'stopped'));
await answering.getTwin();
const service = iothub.Client.fromConnectionString(given.owner);
await service.open();
await service.send(deviceId, new device.Message('to it') as never);
worked.push(`received ${await received}`);
const { result } = await service.invokeDeviceMethod(deviceId, { methodName: 'stop', responseTimeoutInSeconds: 30 });
worked.push(`method ${result.status} ${result.payload}`);
await service.close();
await answering.close();

for (const [name, address] of [
  ['TCP', given.events],
  ['TLS', given.events.replace(';UseDevelopmentEmulator=true', '')],
] as const) {
  const consumer = new EventHubConsumerClient('$Default', address);
  const bodies = await new Promise<string[]>((resolve, reject) => {
    const seen: string[] = [];
    consumer.subscribe(
      {
        async processEvents(events) {
          seen.push(...events.map(({ body }) => String(body)));
          if (seen.length >= 4) resolve(seen);
        },
        processError: async (error) => reject(error),
      },
      { startPosition: { offset: '-1' }, maxWaitTimeInSeconds: 1 },
    );
  });
  await consumer.close();
  worked.push(`events ${name} ${bodies.toSorted().join()}`);
}

const { status } = await fetch(given.admin.url);
const { name } = await createAdminClient(given.admin.url, given.admin.token).describe();
worked.push(`admin port ${status}, of ${name}`);
process.stdout.write(JSON.stringify(worked), () => process.exit());
