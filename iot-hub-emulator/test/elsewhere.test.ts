import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { execFile, spawn } from '../../sandbox/service/endWithUs.ts';
import { openNetwork, serverAddress, whyNoNetwork } from '../../scripts/image/network.ts';
import type { HubState } from '../src/command/stateFile.ts';
import { folderForEach } from './support/fixtures.ts';

const why = await whyNoNetwork();
if (why !== undefined && process.env['CI']) throw new Error(why);

const directory = folderForEach('elsewhere');
const program = (path: string) => [process.execPath, 'scripts/run.js', `iot-hub-emulator/${path}`];

async function printedBy(words: readonly string[]): Promise<HubState> {
  const [command = '', ...args] = words;
  const hub = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void hub.stdin.end());
  let text = '';
  for await (const line of createInterface({ input: hub.stdout })) {
    text += line;
    if (line === '}') break;
  }
  return JSON.parse(text);
}

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
      const more = ['--directory', directory, '--json', '--end-with-stdin'];
      const hub = await printedBy([
        ...network.server,
        ...program('src/command/main.ts'),
        ...options,
        ...ports,
        ...more,
      ]);
      expect(hub.ownerConnectionString).toMatch(/^HostName=iot-hub;/);
      expect(hub.adminUrl).toBe(`http://127.0.0.1:${hub.ports.admin}`);
      const given = {
        ...{ device: hub.devices['pump-1'], owner: hub.ownerConnectionString, events: hub.eventsConnectionString },
        admin: { url: `http://iot-hub:${hub.ports.admin}`, token: hub.adminToken },
      };
      const [command = '', ...args] = [...network.client, ...program('test/support/clientsElsewhere.ts')];
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: hub.caFile };
      const { stdout } = await promisify(execFile)(command, [...args, JSON.stringify(given)], { env });
      expect(JSON.parse(stdout)).toEqual([
        ...['device Mqtt', 'device MqttWs', 'device Amqp', 'device AmqpWs'],
        ...['registry pump-1', 'received to it', 'method 200 stopped'],
        ...['events TCP Amqp,AmqpWs,Mqtt,MqttWs', 'events TLS Amqp,AmqpWs,Mqtt,MqttWs'],
        'admin port 401, of iot-hub',
      ]);
    });
  },
);
