import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { ensureCertificates } from '../src/identity/certificates.ts';
import { ensurePolicies } from '../src/identity/policies.ts';
import { folderForEach } from './support/fixtures.ts';

const day = 24 * 3600 * 1000;
const directory = folderForEach('certificates');
const modeOf = async (name: string) => (await stat(join(directory, name))).mode & 0o777;

describe('certificates', () => {
  test.each([
    ['localhost', undefined],
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
  ])('a client that trusts the authority accepts the server as %s', async (host, name) => {
    const { ca, cert, key } = await ensureCertificates(directory);
    const server = createServer({ cert, key }, (socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const checked = name ?? host;
    const options = { port, host: '127.0.0.1', ca, servername: name ? '' : host };
    const socket = connect({ ...options, checkServerIdentity: () => undefined });
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    const certificate = new X509Certificate(socket.getPeerCertificate().raw);
    expect(name ? certificate.checkIP(checked) : certificate.checkHost(checked)).toBe(checked);
    socket.destroy();
    server.close();
  });
  test('they are stored, and the same at the next start', async () => {
    const first = await ensureCertificates(directory);
    expect(await ensureCertificates(directory)).toEqual(first);
    expect(await readFile(first.caFile, 'utf8')).toBe(first.ca);
  });
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
