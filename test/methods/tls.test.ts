import tls, { type SecureVersion } from 'node:tls';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { folderForAll, portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createHttpServer } from '../../src/methods/server.ts';

// The oldest TLS of the front door, also where Node is told to allow older ones (M1).

const usual = { DEFAULT_MIN_VERSION: tls.DEFAULT_MIN_VERSION, DEFAULT_CIPHERS: tls.DEFAULT_CIPHERS };
const old = { DEFAULT_MIN_VERSION: 'TLSv1', DEFAULT_CIPHERS: 'DEFAULT@SECLEVEL=0' } as const;

const directory = folderForAll('tls');
let certificates: Awaited<ReturnType<typeof ensureCertificates>>;
beforeAll(async () => {
  Object.assign(tls, old);
  certificates = await ensureCertificates(directory);
});
afterAll(() => void Object.assign(tls, usual));

/** The version that is agreed on, or why none is. */
async function connect(version: SecureVersion) {
  const port = await portForTest(createHttpServer((_, response) => void response.end(), certificates));
  return new Promise<string | null>((resolve) => {
    const { ca } = certificates;
    const socket = tls.connect({ port, host: 'localhost', ca, minVersion: version, maxVersion: version }, () => {
      resolve(socket.getProtocol());
      socket.destroy();
    });
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
  });
}

it.each([
  ['TLSv1.1', 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'],
  ['TLSv1.2', 'TLSv1.2'],
  ['TLSv1.3', 'TLSv1.3'],
] as const)('with %s: %s', async (version, agreed) => expect(await connect(version)).toBe(agreed));
