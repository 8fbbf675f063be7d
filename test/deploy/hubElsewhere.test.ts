import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { developmentHub } from 'iot-hub-emulator';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { execFile, spawn } from '../../sandbox/service/endWithUs.ts';
import { type Network, openNetwork, serverAddress, whyNoNetwork } from '../../scripts/image/network.ts';

const why = await whyNoNetwork();

const directory = folderForEach('elsewhere');
const program = (url: URL) => [process.execPath, 'scripts/run.js', fileURLToPath(url)];
const [hubProgram, clients] = [
  program(new URL('../../iot-hub-emulator/src/command/main.ts', import.meta.url)),
  program(new URL('../../iot-hub-emulator/test/support/clientsElsewhere.ts', import.meta.url)),
];

/** Of what the command prints. */
interface Printed {
  ports: Record<string, number>;
  caFile: string;
  adminUrl: string;
  adminToken: string;
  ownerConnectionString: string;
  eventsConnectionString: string;
  devices: Record<string, string>;
}

async function hubAt({ server }: Network, options: readonly string[]): Promise<Printed> {
  const [command = '', ...args] = [...server, ...hubProgram, ...options];
  const hub = spawn(command, [...args, '--end-with-stdin', '--json'], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void hub.stdin.end());
  let text = '';
  for await (const line of createInterface({ input: hub.stdout })) {
    text += line;
    if (line === '}') break;
  }
  return JSON.parse(text);
}

async function workedFor({ client }: Network, caFile: string, given: object): Promise<unknown> {
  const [command = '', ...args] = [...client, ...clients, JSON.stringify(given)];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: caFile };
  return JSON.parse((await promisify(execFile)(command, args, { env })).stdout);
}

const worked = (deviceId: string) => [
  ...['device Mqtt', 'device MqttWs', 'device Amqp', 'device AmqpWs'],
  ...[`registry ${deviceId}`, 'received to it', 'method 200 stopped'],
  ...['events TCP Amqp,AmqpWs,Mqtt,MqttWs', 'events TLS Amqp,AmqpWs,Mqtt,MqttWs'],
  'admin port 401, of iot-hub',
];

describe.skipIf(why !== undefined)(
  `a program of another machine${why === undefined ? '' : ` (skipped: ${why})`}`,
  () => {
    test.each([
      ['0.0.0.0', serverAddress[4]],
      ['::', serverAddress[6]],
    ])('uses every client with a hub that listens on %s, by its name', async (host, address) => {
      const network = await openNetwork('iot-hub', address);
      onTestFinished(() => network.close());
      const options = ['--host', host, '--admin-host', host, '--name', 'iot-hub,hub.example', '--device', 'pump-1'];
      const ports = ['--https-port', '443', '--amqps-port', '5671', '--amqp-port', '5672', '--mqtts-port', '8883'];
      const hub = await hubAt(network, [...options, ...ports, '--directory', directory]);
      expect(hub.ownerConnectionString).toMatch(/^HostName=iot-hub;/);
      expect(hub.adminUrl).toBe(`http://127.0.0.1:${hub.ports['admin']}`);
      const given = {
        ...{ device: hub.devices['pump-1'], owner: hub.ownerConnectionString, events: hub.eventsConnectionString },
        admin: { url: `http://iot-hub:${hub.ports['admin']}`, token: hub.adminToken },
      };
      expect(await workedFor(network, hub.caFile, given)).toEqual(worked('pump-1'));
    });

    test('is a container of the recipe for Docker Compose, whose hub is the image', async () => {
      const recipes = readFileSync('iot-hub-emulator/docs/recipes.md', 'utf8');
      const [, text = ''] = /<!-- compose.yaml -->\n```yaml\n(.*?)```/s.exec(recipes) ?? [];
      const { 'iot-hub': service, device, consumer } = parse(text, { merge: true }).services;
      const dockerfile = readFileSync('iot-hub-emulator/Dockerfile', 'utf8');
      const [, entrypoint = '[]'] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
      const [, , ...options]: string[] = JSON.parse(entrypoint);
      const here = (path: string) => path.replace(/^\/(data|hub)(?=\/|$)/, directory);
      expect([service.volumes, device.volumes, consumer.volumes]).toEqual([
        ['hub:/data'],
        ['hub:/hub:ro'],
        ['hub:/hub:ro'],
      ]);
      const network = await openNetwork('iot-hub', serverAddress[4]);
      onTestFinished(() => network.close());
      await hubAt(network, [...options, ...service.command, '--admin-host', '0.0.0.0'].map(here));

      const readme = readFileSync('iot-hub-emulator/README.md', 'utf8');
      const published = (start: string) => new RegExp(`^${start}.*$`, 'm').exec(readme)?.[0];
      expect(device.environment.DEVICE).toBe(published('HostName=iot-hub;DeviceId=device-1;'));
      expect(consumer.environment.EVENTS).toBe(published('Endpoint='));
      expect(recipes).toContain(developmentHub.adminToken);
      const given = {
        ...{ device: device.environment.DEVICE, events: consumer.environment.EVENTS },
        owner: published('HostName=iot-hub;SharedAccessKeyName=iothubowner;'),
        admin: { url: 'http://iot-hub:8080', token: developmentHub.adminToken },
      };
      expect(await workedFor(network, here(consumer.environment.NODE_EXTRA_CA_CERTS), given)).toEqual(
        worked('device-1'),
      );
    });
  },
);
