import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import device from 'azure-iot-device';
import mqtt from 'azure-iot-device-mqtt';
import { createAdminClient } from 'iot-hub-emulator/admin';
import { trustHub } from 'iot-hub-emulator/clients';
import { describe, expect, test } from 'vitest';
import { startHub } from '../src/hub.ts';
import { ensureCertificates } from '../src/identity/certificates.ts';
import { developmentHub } from '../src/identity/developmentHub.ts';
import { isHostName, reachOf } from '../src/network/reach.ts';
import { serviceToken } from './support/bare.ts';
import { askRest } from './support/clients.ts';
import { connectedDevice } from './support/device.ts';
import { folderForEach } from './support/fixtures.ts';
import { hubForTest } from './support/sharedHub.ts';

// Where a hub listens, by which names it is called, and who gets in. Clients of another machine are in test/deploy of the project.

/** Of this machine only, but no address by which a hub knows that. */
const open = '::ffff:127.0.0.1';
const directory = folderForEach('reach');

describe('a hub is called', () => {
  const own = ['localhost', '127.0.0.1', '::1'];
  test.each([
    [{}, 'localhost', own, false],
    [{ hostNames: ['Hub', 'hub.local'] }, 'localhost', ['hub', 'hub.local', ...own], false],
    [{ host: '0.0.0.0' }, 'localhost', own, false],
    [{ host: '::', hostNames: ['hub'], adminHost: '::' }, 'hub', ['hub', ...own], true],
    [{ host: '10.0.0.7', adminHost: '10.0.0.8' }, '10.0.0.7', ['10.0.0.7', '10.0.0.8', ...own], true],
    [{ host: 'FD00:0::1' }, 'FD00:0::1', ['fd00::1', ...own], false],
    [{ host: '127.0.0.2', adminHost: '::1' }, 'localhost', own, false],
  ])('with %j by the name %s', (asked, hostName, names, isAdminOpen) =>
    expect(reachOf(asked)).toMatchObject({ hostName, names, isAdminOpen }),
  );
  test.each(['hub', 'iot_hub', 'a.b-c.d', '10.0.0.7', 'fd00::1', 'x'.repeat(63)])('%s can be a name', (name) =>
    expect(isHostName(name)).toBe(true),
  );
  test.each(['', 'a b', '-a', 'a..b', 'hub:80', '*.local', 'fe80::1%eth0', 'x'.repeat(64), 'ü'])(
    '"%s" can be none',
    async (name) => {
      expect(isHostName(name)).toBe(false);
      await expect(startHub({ hostNames: [name] })).rejects.toThrow('takes names of hosts or IP addresses');
    },
  );
  test.each(['host', 'adminHost'])('%s is an IP address', (option) =>
    expect(startHub({ [option]: 'hub' })).rejects.toThrow(`${option}: takes an IP address`),
  );
});

test('a hub listens on the loopback address, or on the one that was asked for', async () => {
  const reaches = async (port: number, host: string) => {
    const socket = connect(port, host);
    const reached = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return reached;
  };
  const [usual, other] = [await hubForTest(), await hubForTest({ host: '127.0.0.2' })];
  for (const name of ['amqp', 'amqps', 'mqtts', 'https'] as const) {
    expect([await reaches(usual.ports[name], '127.0.0.1'), await reaches(usual.ports[name], '127.0.0.2')]).toEqual([
      ...[true, false],
    ]);
    expect([await reaches(other.ports[name], '127.0.0.1'), await reaches(other.ports[name], '127.0.0.2')]).toEqual([
      ...[false, true],
    ]);
  }
  expect([await reaches(other.ports.admin, '127.0.0.1'), await reaches(other.ports.admin, '127.0.0.2')]).toEqual([
    ...[true, false],
  ]);
});

test('the certificate has the names, and is made anew when it lacks one, by the same authority', async () => {
  const first = await ensureCertificates(directory);
  const names = ['hub', 'iothub.local', '10.0.0.7', 'localhost', '::1'];
  const second = await ensureCertificates(directory, Date.now(), names);
  const certificate = new X509Certificate(second.cert);
  expect([certificate.checkHost('hub'), certificate.checkHost('iothub.local')]).toEqual(['hub', 'iothub.local']);
  expect([certificate.checkIP('10.0.0.7'), certificate.checkIP('::1')]).toEqual(['10.0.0.7', '::1']);
  expect(new X509Certificate(first.cert).checkHost('hub')).toBeUndefined();
  expect(second.ca).toBe(first.ca);
  expect(await ensureCertificates(directory, Date.now(), ['hub', 'localhost'])).toEqual(second);
});

test.each([
  ['hub', 404],
  ['HUB.local', 404],
  ['localhost', 404],
  ['other', 401],
])('a token for the host %s is answered with %i by a hub with the names hub and hub.local', async (host, expected) => {
  const hub = await hubForTest({ hostNames: ['hub', 'hub.local'] });
  const headers = { authorization: serviceToken(hub, 'iothubowner', host) };
  const { status } = await askRest(hub, 'GET', '/devices/x?api-version=2021-04-12', { headers });
  expect(status).toBe(expected); // 404: there is no device x
});

describe('an admin port that is open to other machines', () => {
  const status = async (port: number, headers: Record<string, string> = {}) => {
    const asked = request({ host: '127.0.0.1', port, path: '/devices', headers }).end();
    const [response] = await once(asked, 'response');
    response.resume();
    return response.statusCode;
  };

  test('asks for its token, which stays the same, and for a name of the hub', async () => {
    const options = { directory, adminHost: open, hostNames: ['hub'] };
    let token = '';
    {
      await using hub = await startHub(options);
      token = hub.adminToken ?? '';
      expect(token.length).toBeGreaterThan(40);
      const { admin } = hub.ports;
      const authorization = `Bearer ${token}`;
      expect(await status(admin)).toBe(401);
      expect(await status(admin, { authorization: `Bearer ${token}x` })).toBe(401);
      expect(await status(admin, { authorization })).toBe(200);
      expect(await status(admin, { authorization, host: 'HUB:80' })).toBe(200);
      expect(await status(admin, { authorization, host: 'evil.example' })).toBe(403);
      expect(await status(admin, { authorization, origin: 'http://hub' })).toBe(403);
      const described = await createAdminClient(`http://127.0.0.1:${admin}`, token).describe();
      expect(described.ca).toBe(readFileSync(hub.caFile, 'utf8'));
    }
    await using again = await startHub(options);
    expect(again.adminToken).toBe(token);
  });
  test('takes the token that was asked for', async () => {
    const adminToken = 'a-token-of-sixteen';
    const { ports } = await hubForTest({ adminHost: open, adminToken });
    expect(await status(ports.admin, { authorization: `Bearer ${adminToken}` })).toBe(200);
    await expect(startHub({ adminHost: open, adminToken: 'short' })).rejects.toThrow('adminToken');
  });
});

describe('the hub that everybody knows', () => {
  const { name, keys } = developmentHub;

  test('has published keys, which are in README, and stores none of them', async () => {
    const readme = readFileSync('iot-hub-emulator/README.md', 'utf8');
    for (const text of [keys.primaryKey, developmentHub.adminToken]) expect(readme).toContain(text);
    {
      await using hub = await startHub({ directory, development: true });
      const { amqps, amqp } = hub.ports;
      expect(hub.connectionString('iothubowner')).toBe(
        `HostName=localhost:${amqps};SharedAccessKeyName=iothubowner;SharedAccessKey=${keys.primaryKey}`,
      );
      expect(hub.connectionString('service', 'secondaryKey')).toContain(keys.secondaryKey);
      expect(hub.eventsConnectionString).toBe(
        `Endpoint=sb://127.0.0.1:${amqp};SharedAccessKeyName=events;SharedAccessKey=${keys.primaryKey};EntityPath=${name};UseDevelopmentEmulator=true`,
      );
      await hub.renewKey('service');
      expect(hub.connectionString('service')).not.toContain(keys.primaryKey);
    }
    await using next = await startHub({ directory });
    expect(next.connectionString('iothubowner')).not.toContain(keys.primaryKey);
    expect(next.registry.list()).toEqual([]);
  });
  test('lets a device in with the published key, and one with the published certificate', async () => {
    const hub = await hubForTest({ development: true });
    using _ = trustHub(hub);
    await connectedDevice(hub, 'device-1');
    expect(hub.deviceConnectionString('device-1')).toContain(`;SharedAccessKey=${keys.primaryKey}`);
    const [cert, key] = ['pem', 'key'].map((end) =>
      readFileSync(`iot-hub-emulator/development/device-x509.${end}`, 'utf8'),
    );
    const client = device.Client.fromConnectionString(hub.deviceConnectionString('device-x509'), mqtt.Mqtt);
    await client.setOptions({ cert, key } as object);
    await client.open();
    expect(hub.isConnected('device-x509')).toBe(true);
    await client.close();
  });
  test('has a certificate that small clients can still read: until 2037', () => {
    const certificate = new X509Certificate(readFileSync('iot-hub-emulator/development/device-x509.pem'));
    expect(new Date(certificate.validTo).toISOString()).toBe('2037-12-31T23:59:59.000Z');
  });
});
