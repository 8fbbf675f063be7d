import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { Agent } from 'node:https';
import { connect, createServer } from 'node:net';
import { basename, join } from 'node:path';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Hub, startHub } from '../src/hub.ts';
import { type Access, createAccess } from '../src/identity/access.ts';
import { createCaCertificates } from '../src/identity/caCertificates.ts';
import type { Policy } from '../src/identity/policies.ts';
import { createRegistry, type Registry } from '../src/identity/registry.ts';
import { parseSas, signSas } from '../src/identity/sas.ts';
import { askRest, deviceClient, deviceMessage, listenToEvents, serviceMessage } from './support/clients.ts';
import { connectedDevice } from './support/device.ts';
import { openService } from './support/eventClients.ts';
import { folderForEach } from './support/fixtures.ts';
import { hubForTest } from './support/sharedHub.ts';

const directory = folderForEach('hub');

describe('a hub without a directory', () => {
  beforeEach(() => void vi.stubEnv('TMPDIR', directory));
  afterEach(() => void vi.unstubAllEnvs());

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
  const service = await openService(hub);
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
  const askAt = (hub: Hub, port: number, agent?: Agent) =>
    askRest(hub, 'GET', '/devices?api-version=1', { tls: { port, agent, ca: readFileSync(hub.caFile) } });

  // A client that reuses a connection in the moment in which the hub ends it meets an error that means nothing.
  test('serves REST over connections that it keeps open longer than clients do', async () => {
    const hub = await hubForTest();
    const agent = new Agent({ keepAlive: true });
    const { headers } = await askAt(hub, hub.ports.https, agent);
    expect(headers['keep-alive']).toBe('timeout=120');
    agent.destroy();
  });
  test('serves AMQP, MQTT and REST if it is a TLS port', async () => {
    const hub = await hubForTest({ devices: [{ deviceId: 'pump-1' }] });
    const { amqps, mqtts } = hub.ports;
    expect(hub.ports.https).toBe(amqps);
    for (const port of [amqps, mqtts]) {
      expect((await askAt(hub, port)).status).toBe(401);
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
    expect((await askAt(hub, hub.ports.https)).status).toBe(401);
  });
});

const key = Buffer.from('a key of thirty-two bytes length').toString('base64');
const otherKey = Buffer.from('another key of as many bytes or so').toString('base64');
const secondaryKey = Buffer.from('the second key of every policy').toString('base64');
const now = 1_700_000_000_000;
const later = now / 1000 + 60;
const certificates = createCaCertificates(() => now);
const unauthorized = expect.objectContaining({ condition: 'amqp:unauthorized-access' });

test.each([
  ['', 'nothing'],
  ['Bearer x', 'another kind of token'],
  ['SharedAccessSignature sr=a&sig=b', 'no expiry'],
  ['SharedAccessSignature sr=a&se=1', 'no signature'],
  ['SharedAccessSignature sr=a&sig=b&se=soon', 'an expiry that is no number'],
  ['SharedAccessSignature sr=a&sig=b&se=1&se=2', 'two expiries'],
  ['SharedAccessSignature sr=%&sig=b&se=1', 'a stray percent sign'],
])('a shared access signature is not %j: %s', (text) => expect(parseSas(text)).toBeUndefined());

describe('access', () => {
  let registry: Registry;
  let access: Access;
  beforeEach(() => {
    registry = createRegistry(() => now);
    registry.create('d1', { primaryKey: key });
    const policies = new Map<string, Policy>([
      ['service', { name: 'service', primaryKey: key, secondaryKey, rights: new Set(['serviceConnect', 'listen']) }],
      ['device', { name: 'device', primaryKey: otherKey, secondaryKey, rights: new Set(['deviceConnect']) }],
    ]);
    access = createAccess({ hubName: 'Hub', policies, registry, certificates, now: () => now });
  });
  const logIn = (deviceId: string, moduleId: string | undefined, token: string) =>
    access.login(deviceId, moduleId, { token });

  const service = (resource: string, expiry = later, signer = key, name = 'service') =>
    signSas(resource, signer, resource.includes('://') ? 'utf8' : 'base64', expiry, name);

  test('a token covers what lies below its resource, without regard to case or port', () => {
    const audience = 'sb://127.0.0.1:5672/hub/consumergroups/$default/partitions/0';
    expect(access.claim(service('sb://127.0.0.1:9/Hub'), audience)).toMatchObject({
      policy: 'service',
      path: ['Hub'],
      expiresAt: later * 1000,
    });
  });
  test('the audience may be percent-encoded', () =>
    expect(access.claim(service('localhost'), 'localhost%3a5671%2fmessages').policy).toBe('service'));
  test.each(['localhost', 'hub.azure-devices.net', 'LOCALHOST:5671'])('%s is a name of the hub', (host) =>
    expect(access.claim(service(host), host).policy).toBe('service'),
  );
  test.each([
    ['of a sibling', service('sb://localhost/hub/a'), 'sb://localhost/hub/b'],
    ['of what lies below', service('sb://localhost/hub/a'), 'sb://localhost/hub'],
    ['of a name that only begins the same', service('sb://localhost/hub/a'), 'sb://localhost/hub/ab'],
    ['of another host', service('sb://elsewhere/hub'), 'sb://elsewhere/hub'],
    ['with a wrong signature', service('localhost', later, otherKey), 'localhost'],
    ['of an unknown policy', service('localhost', later, key, 'nobody'), 'localhost'],
    ['with a changed expiry', service('localhost').replace(`se=${later}`, `se=${later + 1}`), 'localhost'],
    ['that ends this second', service('localhost', now / 1000), 'localhost'],
  ])('a token %s is refused', (_, token, audience) =>
    expect(() => access.claim(token, audience)).toThrow(unauthorized),
  );
  test('a token that ends in a second is taken', () =>
    expect(access.claim(service('localhost', now / 1000 + 1), 'localhost')).toBeDefined());
  test('a device logs in with either of its keys, and its login has the auth method', () => {
    const secondary = registry.get('d1')?.secondaryKey ?? '';
    for (const signer of [key, secondary]) {
      const login = logIn('d1', undefined, signSas('localhost/devices/d1', signer, 'base64', later));
      expect(login).toMatchObject({ identity: { deviceId: 'd1' }, expiresAt: later * 1000 });
      expect(JSON.parse(login.authMethod)).toMatchObject({ scope: 'device', type: 'sas', issuer: 'iothub' });
    }
  });
  test('a policy with the right logs a device in, with the scope of the hub', () => {
    const token = service('localhost/devices', later, otherKey, 'device');
    expect(JSON.parse(logIn('d1', undefined, token).authMethod)).toMatchObject({ scope: 'hub' });
    expect(() => logIn('d1', undefined, service('localhost'))).toThrow(unauthorized);
  });
  test('a module logs in with its own key, not with its device’s, and not as its device', () => {
    registry.create('d1', { moduleId: 'm', primaryKey: otherKey });
    const token = signSas('localhost/devices/d1/modules/m', otherKey, 'base64', later);
    const login = logIn('d1', 'm', token);
    expect(login.identity).toMatchObject({ deviceId: 'd1', moduleId: 'm' });
    expect(JSON.parse(login.authMethod)).toMatchObject({ scope: 'module' });
    expect(() => logIn('d1', undefined, token)).toThrow(unauthorized);
    const device = signSas('localhost/devices/d1/modules/m', key, 'base64', later);
    expect(() => logIn('d1', 'm', device)).toThrow(unauthorized);
  });
  test('a device does not log in as its module, even with the same key', () => {
    registry.create('d1', { moduleId: 'm', primaryKey: key });
    const device = signSas('localhost/devices/d1', key, 'base64', later);
    expect(() => logIn('d1', 'm', device)).toThrow(unauthorized);
    expect(logIn('d1', undefined, device).identity.clientId).toBe('d1');
  });
  test.each([
    ['a device', 'localhost/devices/d1', key, undefined, ['d1']],
    ['a module', 'localhost/devices/d1/modules/m', otherKey, undefined, ['d1/m']],
    ['a policy that lets devices connect', 'localhost', otherKey, 'device', ['d1', 'd1/m', 'd2']],
    ['such a policy for one device', 'localhost/devices/d1', otherKey, 'device', ['d1', 'd1/m']],
    ['such a policy for one module', 'localhost/devices/d1/modules/m', otherKey, 'device', ['d1/m']],
    ['a policy that lets none connect', 'localhost', key, 'service', []],
  ])('a claim of %s logs in only what it covers', (_, resource, signer, policy, opened) => {
    registry.create('d1', { moduleId: 'm', primaryKey: otherKey });
    registry.create('d2', { primaryKey: key });
    const claim = access.claim(signSas(resource, signer, 'base64', later, policy), resource);
    const all: [string, string | undefined][] = [
      ['d1', undefined],
      ['d1', 'm'],
      ['d2', undefined],
    ];
    expect(all.flatMap((one) => access.loginBy(claim, ...one)?.identity.clientId ?? [])).toEqual(opened);
  });
  test('a claim of a key counts no more when the device has a certificate, one of a policy does', () => {
    const resource = 'localhost/devices/d1';
    const claims = [undefined, 'device'].map((policy) =>
      access.claim(signSas(resource, policy ? otherKey : key, 'base64', later, policy), resource),
    );
    registry.update('d1', { authentication: { type: 'certificateAuthority' } });
    expect(claims.map((claim) => access.loginBy(claim, 'd1', undefined)?.identity.clientId)).toEqual([undefined, 'd1']);
    expect(() => access.claim(signSas(resource, key, 'base64', later), resource)).toThrow(unauthorized);
  });
  test('a disabled device is refused, and so are its modules', () => {
    registry.create('d1', { moduleId: 'm', primaryKey: otherKey });
    registry.update('d1', { status: 'disabled' });
    const device = signSas('localhost/devices/d1', key, 'base64', later);
    expect(() => logIn('d1', undefined, device)).toThrow('disabled');
    const module = signSas('localhost/devices/d1/modules/m', otherKey, 'base64', later);
    expect(() => logIn('d1', 'm', module)).toThrow('disabled');
  });
});
