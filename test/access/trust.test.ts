import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls, { createSecureContext } from 'node:tls';
import { trustAlso } from '@device-messaging/telemetry/trust.ts';
import { ensureCertificates } from 'iot-hub-emulator/testing';
import { expect, it, onTestFinished } from 'vitest';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';

// The authorities of a setting are trusted besides those that are trusted anyway (D407).

const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';

async function certificates() {
  const directory = mkdtempSync(join(tmpdir(), 'trust-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { cert, key, caFile } = await ensureCertificates(directory);
  return { cert, key, authority: readFileSync(caFile, 'utf8') };
}

/** Asks a server that has a certificate, by a connection of its own. */
async function serverWith({ cert, key }: { readonly cert: string | Buffer; readonly key: string | Buffer }) {
  const { port, close } = await listening(createServer({ cert, key }, (_, response) => response.end()));
  onTestFinished(close);
  const url = `https://localhost:${port}`;
  return (own: { readonly ca?: string } = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = request(url, { agent: new Agent(), ...own }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.once('error', reject).end();
    });
}

it('all authorities of a file are trusted, but by a client that names its own', async () => {
  const [some, others] = [await certificates(), await certificates()];
  const [ask, askOther] = [await serverWith(some), await serverWith(others)];
  await expect(ask()).rejects.toThrow(/certificate/);
  trustAlso(`${some.authority}\n${others.authority}`);
  expect([await ask(), await askOther()]).toEqual([200, 200]);
  await expect(ask({ ca: others.authority })).rejects.toThrow(/certificate/);
  expect(() => createSecureContext()).not.toThrow();
});

it('a newer line of Node.js gets the authorities that it trusts already, too', async () => {
  const { authority } = await certificates();
  const names = ['getCACertificates', 'setDefaultCACertificates'];
  const before = Object.fromEntries(names.map((name) => [name, Reflect.get(tls, name)]));
  onTestFinished(() => void Object.assign(tls, before));
  const given: (readonly string[])[] = [];
  Object.assign(tls, { getCACertificates: (of: string) => [`those of ${of}`], setDefaultCACertificates: undefined });
  trustAlso(authority); // some lines have only the first
  Object.assign(tls, { setDefaultCACertificates: (all: readonly string[]) => void given.push(all) });
  trustAlso(authority);
  expect(given).toEqual([['those of default', authority.trim()]]);
});

it.each<[string, (authority: string) => string]>([
  ['has no certificate in PEM', () => 'text'],
  ['has a certificate that cannot be read, number 1', () => broken],
  ['has a certificate that cannot be read, number 2', (authority) => `${authority}\n${broken}`],
])('a file of authorities is refused when it %s', async (why, text) => {
  const { authority } = await certificates();
  expect(() => trustAlso(text(authority))).toThrow(new TypeError(why));
});
