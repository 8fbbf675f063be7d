import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { join } from 'node:path';
import tls, { connect } from 'node:tls';
import device from 'azure-iot-device';
import amqp from 'azure-iot-device-amqp';
import mqtt from 'azure-iot-device-mqtt';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { trustHub } from '../src/clients/trustHub.ts';
import { startHub } from '../src/hub.ts';
import type { Authentication } from '../src/identity/authentication.ts';
import { ensureCertificates } from '../src/identity/certificates.ts';
import { type Issued, issueCertificate } from '../src/identity/issueCertificate.ts';
import { ensurePolicies } from '../src/identity/policies.ts';
import { agentOf, deviceMessage, nextMessage, registryClient, serviceMessage } from './support/clients.ts';
import { openService } from './support/eventClients.ts';
import { folderForEach } from './support/fixtures.ts';
import { hubForAll } from './support/sharedHub.ts';

// Devices that prove by a certificate who they are, as the official clients do it (H19).

const hub = hubForAll();
let root: Issued;
let factory: Issued;
let signed: Issued;
beforeAll(async () => {
  root = await issueCertificate({ name: 'Root', role: 'authority' });
  factory = await issueCertificate({ name: 'Factory', role: 'authority', issuer: root });
  signed = await chained('signed');
  hub.certificates.add('root', root.cert, true);
  hub.registry.create('signed', { authentication: { type: 'certificateAuthority' } });
});

/** A certificate of a device behind the factory's, which it presents, too. */
async function chained(name: string): Promise<Issued> {
  const own = await issueCertificate({ name, role: 'client', issuer: factory });
  return { ...own, cert: own.cert + factory.cert };
}

const sha1 = ({ cert }: Issued) => new X509Certificate(cert).fingerprint.replaceAll(':', '');
const sha256 = ({ cert }: Issued) => new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase();

type Transport = Parameters<typeof device.Client.fromConnectionString>[1];
const transports: readonly (readonly [string, Transport, boolean])[] = [
  ['Mqtt', mqtt.Mqtt, false],
  ['Amqp', amqp.Amqp, false],
  ['MqttWs', mqtt.MqttWs, true],
  ['AmqpWs', amqp.AmqpWs, true],
];

/** The official client with this certificate, not yet open. Over WebSockets an agent leads it to the hub. */
async function clientOf(deviceId: string, { cert, key }: Issued, Transport: Transport, isOverWebSockets = false) {
  const given = hub.deviceConnectionString(deviceId).replace(/SharedAccessKey=.*/, 'x509=true');
  const address = isOverWebSockets ? given.replace(/(?<=localhost):\d+/, '') : given;
  const client = device.Client.fromConnectionString(address, Transport);
  client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => 0 });
  client.on('error', () => undefined);
  const webSocketAgent = agentOf(hub);
  await client.setOptions({
    ...{ cert, key, ca: readFileSync(hub.caFile, 'utf8') },
    ...(isOverWebSockets && { mqtt: { webSocketAgent }, amqp: { webSocketAgent } }),
  });
  onTestFinished(() => void client.close().catch(() => undefined));
  return client;
}

const deviceWith = (deviceId: string, authentication: Authentication) => {
  hub.registry.delete(deviceId);
  hub.registry.create(deviceId, { authentication });
};

describe.each(transports)('over %s', (name, Transport, isOverWebSockets) => {
  test('a device gets in by the primary thumbprint, sends, receives and has a twin', async () => {
    const own = await issueCertificate({ name: 'anything', role: 'client' });
    const deviceId = `own-${name}`;
    deviceWith(deviceId, { type: 'selfSigned', primaryThumbprint: sha1(own) });
    const client = await clientOf(deviceId, own, Transport, isOverWebSockets);
    await client.open();
    await client.sendEvent(deviceMessage('21.5'));
    const [sent] = hub.journal.list({ deviceId, kind: 'd2c' });
    const event = hub.partitions[sent?.partition ?? 0]?.at(sent?.sequenceNumber ?? 0)?.bytes.toString('latin1');
    expect(event).toContain('{"scope":"device","type":"x509","issuer":"iothub","acceptingIpFilterRule":null}');
    expect((await client.getTwin()).properties.reported).toMatchObject({ $version: 1 });
    const received = nextMessage(client);
    const service = await openService(hub);
    await service.send(deviceId, serviceMessage('open'));
    expect((await received).getData().toString()).toBe('open');
  });
  test('by a certificate that a registered CA certificate stands behind', async () => {
    const before = hub.journal.list({ deviceId: 'signed', kind: 'd2c' }).length;
    const client = await clientOf('signed', signed, Transport, isOverWebSockets);
    await client.open();
    await client.sendEvent(deviceMessage('{}'));
    expect(hub.journal.list({ deviceId: 'signed', kind: 'd2c' })).toHaveLength(before + 1);
  });
  test('not by the certificate of another device', async () => {
    deviceWith(`own-${name}`, { type: 'selfSigned', primaryThumbprint: sha1(root) });
    for (const [deviceId, certificate] of Object.entries({ [`own-${name}`]: signed, signed: await chained('other') })) {
      const client = await clientOf(deviceId, certificate, Transport, isOverWebSockets);
      const attempt = client.open().then(() => client.sendEvent(deviceMessage('{}')));
      await expect(attempt).rejects.toMatchObject({ name: 'UnauthorizedError' });
    }
  });
});

test('a module has its device and its own id as the common name', async () => {
  hub.registry.create('signed', { moduleId: 'camera', authentication: { type: 'certificateAuthority' } });
  const { cert, key } = await chained('signed/camera');
  const ids = { deviceId: 'signed', moduleId: 'camera' };
  const credentials = { host: `localhost:${hub.ports.mqtts}`, ...ids, x509: { cert, key } };
  const provider = new device.X509AuthenticationProvider(credentials);
  const client = device.ModuleClient.fromAuthenticationProvider(provider, mqtt.Mqtt);
  client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => 0 });
  await client.setOptions({ ca: readFileSync(hub.caFile, 'utf8'), cert, key });
  await client.open();
  await client.sendEvent(deviceMessage('{}'));
  expect(hub.journal.list({ deviceId: 'signed', kind: 'd2c' }).at(-1)).toMatchObject({ moduleId: 'camera' });
  await client.close();
});

test('the registry client registers thumbprints and authorities, and queries them', async () => {
  const registry = registryClient(hub, 'iothubowner');
  const own = await issueCertificate({ name: 'anything', role: 'client' });
  const authentication = { x509Thumbprint: { primaryThumbprint: sha256(own), secondaryThumbprint: null } };
  const { responseBody } = await registry.create({ deviceId: 'own', authentication } as never);
  expect(responseBody.authentication).toEqual({
    type: 'selfSigned',
    symmetricKey: { primaryKey: null, secondaryKey: null },
    x509Thumbprint: { primaryThumbprint: sha256(own), secondaryThumbprint: null },
  });
  const query = "SELECT deviceId FROM devices WHERE authenticationType = 'selfSigned' AND deviceId = 'own'";
  const found = registry.createQuery(query);
  expect(await found.next(null as never)).toMatchObject({ result: [{ deviceId: 'own' }] });
  await registry.update({ deviceId: 'own', authentication: { type: 'certificateAuthority' } } as never);
  expect((await registry.getTwin('own')).responseBody).toMatchObject({
    authenticationType: 'certificateAuthority',
    x509Thumbprint: { primaryThumbprint: null, secondaryThumbprint: null },
  });
  for (const wrong of [
    { type: 'selfSigned' },
    { x509Thumbprint: { primaryThumbprint: 'AB' } },
    { type: 'sas', x509Thumbprint: { primaryThumbprint: sha1(own) } },
  ])
    await expect(registry.create({ deviceId: 'wrong', authentication: wrong } as never)).rejects.toMatchObject({
      name: 'ArgumentError',
    });
});

test('events can be put in its name', async () => {
  const before = hub.journal.list({ deviceId: 'signed', kind: 'd2c' }).length;
  await hub.faults.strike({ kind: 'burst', events: 2, deviceId: 'signed' });
  expect(hub.journal.list({ deviceId: 'signed', kind: 'd2c' })).toHaveLength(before + 2);
});

test('each connection has a handshake of its own', async () => {
  const options = { port: hub.ports.mqtts, host: '127.0.0.1', servername: 'localhost', ca: readFileSync(hub.caFile) };
  const socket = connect(options);
  const sessions: Buffer[] = [];
  socket.on('session', (session) => sessions.push(session));
  await once(socket, 'secureConnect');
  socket.write(Buffer.from([0x10, 0x00]));
  await once(socket.resume(), 'close');
  for (const session of sessions) {
    const again = connect({ ...options, session });
    await once(again, 'secureConnect');
    expect(again.isSessionReused()).toBe(false);
    again.destroy();
  }
});

test('CA certificates and how devices prove who they are survive a restart', async () => {
  const options = { directory: `${hub.directory}/second`, persist: `${hub.directory}/second/data` };
  const first = await startHub(options);
  first.certificates.add('root', root.cert);
  first.certificates.generateVerificationCode('root');
  first.registry.create('signed', { authentication: { type: 'certificateAuthority' } });
  const listed = first.certificates.list();
  await first.close();
  const second = await startHub({ ...options, devices: [{ deviceId: 'signed' }] });
  onTestFinished(() => second.close());
  expect(second.certificates.list()).toEqual(listed);
  expect(second.registry.get('signed')).toMatchObject({ authentication: { type: 'certificateAuthority' } });
  expect(second.deviceConnectionString('signed')).toMatch(/;DeviceId=signed;x509=true$/);
});

describe('trust without a variable', () => {
  const hub = hubForAll();
  const other = hubForAll();

  /** How a request ends: with a status, or an error. */
  const outcome = async (host: string, options: object = {}, port = hub.ports.https): Promise<unknown> => {
    const request = get({ host, port, path: '/devices?api-version=1', agent: false, ...options });
    try {
      const [response] = await once(request, 'response');
      response.resume();
      return response.statusCode;
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      return /CERT|VERIFY/.test(code) ? refused : code;
    }
  };
  const refused = 'an authority that is not believed';

  test('a process believes the authority of a hub from then on, until it ends that', async () => {
    const before = tls.createSecureContext;
    expect(await outcome('localhost')).toBe(refused);
    const end = trustHub(hub);
    expect([await outcome('localhost'), await outcome('127.0.0.1')]).toEqual([401, 401]);
    expect(await outcome('localhost', {}, other.ports.https)).toBe(refused);
    {
      using _ = trustHub(other);
      expect([await outcome('localhost', {}, other.ports.https), await outcome('localhost')]).toEqual([401, 401]);
    }
    expect([await outcome('localhost', {}, other.ports.https), await outcome('localhost')]).toEqual([refused, 401]);
    end();
    expect(await outcome('localhost')).toBe(refused);
    expect(tls.createSecureContext).toBe(before);
  });
  test('a hub is believed only as this machine, and not by a client that names its own authorities', async () => {
    using _ = trustHub(hub);
    const lookup = (_: string, __: object, done: (...found: unknown[]) => void) =>
      done(null, [{ address: '127.0.0.1', family: 4 }]);
    expect(await outcome('example.com', { lookup, checkServerIdentity: () => undefined })).toBe(refused);
    expect(await outcome('localhost', { ca: readFileSync(other.caFile) })).toBe(refused);
  });
});

const day = 24 * 3600 * 1000;
const directory = folderForEach('certificates');
const modeOf = async (name: string) => (await stat(join(directory, name))).mode & 0o777;

describe('certificates', () => {
  test('keys can be read by their owner only', async () => {
    await ensureCertificates(directory);
    expect([await modeOf('ca.key'), await modeOf('server.key')]).toEqual([0o600, 0o600]);
  });
  test('the server certificate is renewed close to its expiry, by the same authority', async () => {
    const first = await ensureCertificates(directory);
    const second = await ensureCertificates(directory, Date.now() + 340 * day);
    expect(second.ca).toBe(first.ca);
    expect(second.cert).not.toBe(first.cert);
    expect(new X509Certificate(second.cert).verify(new X509Certificate(first.ca).publicKey)).toBe(true);
  });
  test('the authority is renewed close to its expiry, and the server certificate with it', async () => {
    const first = await ensureCertificates(directory);
    const second = await ensureCertificates(directory, Date.now() + 3630 * day);
    expect(second.ca).not.toBe(first.ca);
    expect(new X509Certificate(second.cert).verify(new X509Certificate(second.ca).publicKey)).toBe(true);
  });
  test.each(['ca.pem', 'ca.key', 'server.pem', 'server.key'])('a damaged %s is replaced', async (name) => {
    await ensureCertificates(directory);
    await writeFile(join(directory, name), 'rubbish');
    const { ca, cert } = await ensureCertificates(directory);
    expect(new X509Certificate(cert).verify(new X509Certificate(ca).publicKey)).toBe(true);
  });
});

describe('policies', () => {
  test('keys are stored, differ from each other and can be read by their owner only', async () => {
    const first = await ensurePolicies(directory);
    expect((await ensurePolicies(directory)).all).toEqual(first.all);
    const keys = [...first.all.values()].flatMap(({ primaryKey, secondaryKey }) => [primaryKey, secondaryKey]);
    expect(new Set(keys).size).toBe(2 * first.all.size);
    expect(await modeOf('policies.json')).toBe(0o600);
  });
  test('only an owner with the permission may send events, and only service policies may reach devices', async () => {
    const having = async (right: 'send' | 'serviceConnect', ownerMaySend?: boolean) =>
      [...(await ensurePolicies(directory, ownerMaySend)).all.values()]
        .filter(({ rights }) => rights.has(right))
        .map(({ name }) => name);
    expect(await having('send')).toEqual([]);
    expect(await having('send', true)).toEqual(['iothubowner']);
    expect(await having('serviceConnect')).toEqual(['iothubowner', 'service']);
  });
  test.each(['primaryKey', 'secondaryKey'] as const)(
    'a renewed %s replaces the old one and is stored; the other keys stay',
    async (which) => {
      const { all, renewKey } = await ensurePolicies(directory);
      const other = which === 'primaryKey' ? 'secondaryKey' : 'primaryKey';
      const before = new Map(all);
      await renewKey('events', which);
      expect(all.get('events')?.[which]).not.toBe(before.get('events')?.[which]);
      expect(all.get('events')?.[other]).toBe(before.get('events')?.[other]);
      expect(all.get('service')).toEqual(before.get('service'));
      expect((await ensurePolicies(directory)).all).toEqual(all);
      await expect(renewKey('nobody', which)).rejects.toThrow('no policy nobody');
    },
  );
  test('of a file with one key for each are its primary keys', async () => {
    await writeFile(join(directory, 'policies.json'), JSON.stringify({ service: 'b25l' }));
    const { all } = await ensurePolicies(directory);
    expect(all.get('service')).toMatchObject({ primaryKey: 'b25l', secondaryKey: expect.stringMatching(/^.{44}$/) });
    expect((await ensurePolicies(directory)).all).toEqual(all);
  });
});
