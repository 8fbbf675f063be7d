import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, get } from 'node:https';
import { connect, createServer } from 'node:net';
import { basename, join } from 'node:path';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startHub } from '../src/hub.ts';
import { deviceClient, deviceMessage, listenToEvents, serviceClient, serviceMessage } from './support/clients.ts';
import { connectedDevice } from './support/device.ts';
import { folderForEach } from './support/fixtures.ts';
import { hubForTest } from './support/sharedHub.ts';

const directory = folderForEach('hub');

test('keys, policies and certificates survive a restart in the same directory', async () => {
  const keys = async () => {
    await using hub = await startHub({ directory });
    return [hub.serviceConnectionString, hub.eventsConnectionString].map((text) => text.replace(/:\d+/, ''));
  };
  const first = await keys();
  expect(await keys()).toEqual(first);
});

describe('a hub without a directory', () => {
  const before = process.env['TMPDIR'];
  beforeEach(() => {
    process.env['TMPDIR'] = directory;
  });
  afterEach(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });

  test('has a temporary one until the block ends in which it is used, or until it is closed', async () => {
    let admin = '';
    {
      await using hub = await startHub();
      admin = hub.adminUrl;
      expect(await readdir(directory)).toEqual([basename(hub.directory)]);
      expect(hub.caFile).toBe(join(hub.directory, 'ca.pem'));
    }
    await expect(fetch(admin)).rejects.toThrow();
    expect(await readdir(directory)).toEqual([]);

    const hub = await startHub();
    await Promise.all([hub.close(), hub.close()]);
    await hub.close();
    expect(await readdir(directory)).toEqual([]);
  });

  test('leaves none behind when it cannot start', async () => {
    await using hub = await startHub();
    await expect(startHub({ ports: { admin: hub.ports.admin } })).rejects.toThrow('EADDRINUSE');
    expect(await readdir(directory)).toEqual([basename(hub.directory)]);
  });
});

test('closing ends every connection and frees every port', async () => {
  await using hub = await startHub({ devices: [{ deviceId: 'pump-1' }] });
  const device = await connectedDevice(hub, 'pump-1');
  const service = serviceClient(hub);
  await service.open();
  await service.send('pump-1', serviceMessage('x'));
  const listening = listenToEvents(hub, { startPosition: { offset: '-1' }, partition: '0' });
  const idle = connect(hub.ports.amqps, '127.0.0.1');
  idle.on('error', () => undefined);
  await once(idle, 'connect');
  await hub.close();
  await device.closed;
  for (const port of Object.values(hub.ports)) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
  }
  await listening.stop();
});

test('a hub listens on the given ports, and on the loopback interface only', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as { port: number };
  free.close();
  const hub = await hubForTest({ ports: { mqtts: port } });
  expect(hub.ports.mqtts).toBe(port);
});

test('the configured devices can connect', async () => {
  const primaryKey = Buffer.alloc(32, 1).toString('base64');
  const hub = await hubForTest({ name: 'other-hub', devices: [{ deviceId: 'pump-1', primaryKey }] });
  const text = `HostName=localhost:${hub.ports.mqtts};DeviceId=pump-1;SharedAccessKey=${primaryKey}`;
  expect(hub.deviceConnectionString('pump-1')).toBe(text);
  expect(hub.eventsConnectionString).toContain('EntityPath=other-hub');
  expect(() => hub.deviceConnectionString('nobody')).toThrow();
  await connectedDevice(hub, 'pump-1');
});

describe('a port', () => {
  const askRest = (port: number, ca: string, agent: Agent | false = false) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const asked = get({ host: 'localhost', port, ca, agent, path: '/devices?api-version=1' }, (response) => {
        response.resume();
        resolve(response);
      });
      asked.on('error', reject);
    });
  const answersRest = async (port: number, ca: string) => (await askRest(port, ca)).statusCode;

  // A client that reuses a connection in the moment in which the hub ends it meets an error that means nothing.
  test('serves REST over connections that it keeps open longer than clients do', async () => {
    const hub = await hubForTest();
    const agent = new Agent({ keepAlive: true });
    const { headers } = await askRest(hub.ports.https, readFileSync(hub.caFile, 'utf8'), agent);
    expect(headers['keep-alive']).toBe('timeout=120');
    agent.destroy();
  });

  test('serves AMQP, MQTT and REST if it is a TLS port', async () => {
    const hub = await hubForTest({ devices: [{ deviceId: 'pump-1' }] });
    const { amqps, mqtts } = hub.ports;
    expect(hub.ports.https).toBe(amqps);
    for (const port of [amqps, mqtts]) {
      expect(await answersRest(port, readFileSync(hub.caFile, 'utf8'))).toBe(401);
      const text = hub.deviceConnectionString('pump-1').replace(/localhost:\d+/, `localhost:${port}`);
      for (const transport of [amqp.Amqp, mqtt.Mqtt]) {
        const client = await deviceClient(hub, 'pump-1', text, transport);
        await client.open();
        await client.sendEvent(deviceMessage('x'));
        await client.close();
      }
    }
    expect(hub.journal.list({ kind: 'd2c' })).toHaveLength(4);
  });
  test('can be opened for REST alone', async () => {
    const hub = await hubForTest({ ports: { https: 0 } });
    expect(hub.ports.https).not.toBe(hub.ports.amqps);
    expect(hub.restUrl).toBe(`https://localhost:${hub.ports.https}`);
    expect(await answersRest(hub.ports.https, readFileSync(hub.caFile, 'utf8'))).toBe(401);
  });
});
