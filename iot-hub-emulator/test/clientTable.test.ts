import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createAddresses } from '../src/identity/addresses.ts';
import { createRegistry } from '../src/identity/registry.ts';
import { printed } from './support/printed.ts';
import { hubForTest } from './support/sharedHub.ts';

const program = new URL('./support/clientTable.ts', import.meta.url);

/** The rows of the table of clients in README.md. */
const documented = (): string[][] => {
  const [, after = ''] = readFileSync('iot-hub-emulator/README.md', 'utf8').split('<!-- clients:');
  const [, , ...rows] = (after.split('\n\n')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
};

test('every unmodified client behaves with ports and agents as README.md says', async () => {
  const deviceId = 'pump';
  const hub = await hubForTest({ devices: [{ deviceId }] });
  const { https, amqps } = hub.ports;
  const device = hub.deviceConnectionString(deviceId);
  const [owner, events] = [hub.connectionString('iothubowner'), hub.eventsConnectionString];
  const described = JSON.stringify({ deviceId, device, owner, events, https, amqps });
  expect(JSON.parse(await printed(program, [described], hub.caFile))).toEqual(documented());
}, 120_000);

test('a connection string leaves out the default port of a protocol, and no other', () => {
  const registry = createRegistry(Date.now);
  registry.create('pump');
  const policies = new Map([
    ['service', { name: 'service', primaryKey: 'a2V5', secondaryKey: 'a2V6', rights: new Set<never>() }],
  ]);
  const hosts = (amqp: number, amqps: number, mqtts: number, hostName = 'localhost') => {
    const ports = { amqp, amqps, mqtts, https: 443, admin: 1 };
    const addresses = createAddresses({ eventHub: () => 'hub', hostName, ports, policies, registry });
    return [
      addresses.eventHubConnectionString('service'),
      addresses.connectionString('service'),
      addresses.deviceConnectionString('pump'),
    ].map((text) => /(?:HostName=|sb:\/\/)([^;]*)/.exec(text)?.[1]);
  };
  expect(hosts(5672, 5671, 8883)).toEqual(['127.0.0.1', 'localhost', 'localhost']);
  expect(hosts(5671, 443, 5671)).toEqual(['127.0.0.1:5671', 'localhost:443', 'localhost:5671']);
  expect(hosts(5672, 5671, 1883, 'hub')).toEqual(['hub', 'hub', 'hub:1883']);
  expect(hosts(5672, 5671, 1883, 'fd00::1')).toEqual(['[fd00::1]', '[fd00::1]', '[fd00::1]:1883']);
});
