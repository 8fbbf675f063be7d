import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ensureCertificates } from '../src/identity/certificates.ts';
import { ensurePolicies } from '../src/identity/policies.ts';

const day = 24 * 3600 * 1000;
let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'certificates-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

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
    const socket = connect({
      port,
      host: '127.0.0.1',
      ca,
      servername: name ? '' : host,
      checkServerIdentity: () => undefined,
    });
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    const certificate = new X509Certificate(socket.getPeerCertificate().raw);
    expect(name ? certificate.checkIP(checked) : certificate.checkHost(checked)).toBe(checked);
    socket.destroy();
    server.close();
  });
  test('a client that does not trust the authority refuses the server', async () => {
    const { cert, key } = await ensureCertificates(directory);
    const server = createServer({ cert, key }).listen(0, '127.0.0.1');
    server.on('tlsClientError', () => undefined);
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const [error] = await once(connect({ port, host: '127.0.0.1', servername: 'localhost' }), 'error').catch((e) => [
      e,
    ]);
    expect(String(error)).toMatch(/verify|self-signed/i);
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
    expect(new Set([...first.all.values()].map(({ key }) => key)).size).toBe(first.all.size);
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
  test('a renewed key replaces the old one and is stored; the other keys stay', async () => {
    const { all, renewKey } = await ensurePolicies(directory);
    const keyOf = (name: string, policies = all) => policies.get(name)?.key;
    const before = [keyOf('events'), keyOf('service')];
    await renewKey('events');
    expect(keyOf('events')).not.toBe(before[0]);
    const kept = (await ensurePolicies(directory)).all;
    expect([keyOf('events', kept), keyOf('service', kept)]).toEqual([keyOf('events'), before[1]]);
    await expect(renewKey('nobody')).rejects.toThrow('no policy nobody');
  });
});
