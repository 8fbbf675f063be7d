import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startHub } from '../../../sandbox/hub/hub.ts';
import { listenToEvents, serviceClient, serviceMessage } from './support/clients.ts';
import { connectedDevice } from './support/device.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hub-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('keys, policies and certificates outlive a restart', async () => {
  const first = await startHub({ directory });
  const keys = [first.serviceConnectionString, first.eventsConnectionString].map((text) => text.replace(/:\d+/, ''));
  await first.close();
  const second = await startHub({ directory });
  expect(
    [second.serviceConnectionString, second.eventsConnectionString].map((text) => text.replace(/:\d+/, '')),
  ).toEqual(keys);
  await second.close();
});

test('closing ends every connection and frees every port', async () => {
  const hub = await startHub({ directory, devices: [{ deviceId: 'pump-1' }] });
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

test('a hub listens where it is told to, and on the loopback interface only', async () => {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as { port: number };
  free.close();
  const hub = await startHub({ directory, ports: { mqtts: port } });
  expect(hub.ports.mqtts).toBe(port);
  await hub.close();
});

test('a port that is taken is an error, and leaves nothing open', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  await expect(startHub({ directory, ports: { admin: port } })).rejects.toThrow('EADDRINUSE');
  taken.close();
});

test('devices that are there from the start can connect', async () => {
  const primaryKey = Buffer.alloc(32, 1).toString('base64');
  const hub = await startHub({ directory, name: 'other-hub', devices: [{ deviceId: 'pump-1', primaryKey }] });
  expect(hub.deviceConnectionString('pump-1')).toBe(
    `HostName=localhost:${hub.ports.mqtts};DeviceId=pump-1;SharedAccessKey=${primaryKey}`,
  );
  expect(hub.eventsConnectionString).toContain('EntityPath=other-hub');
  expect(() => hub.deviceConnectionString('nobody')).toThrow();
  await connectedDevice(hub, 'pump-1');
  await hub.close();
});
