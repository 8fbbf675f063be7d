import 'reflect-metadata';
import { createPrivateKey, KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import { X509CertificateGenerator } from '@peculiar/x509';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createAccess } from '../src/identity/access.ts';
import { type CaCertificates, createCaCertificates } from '../src/identity/caCertificates.ts';
import { type CertificateRequest, type Issued, issueCertificate } from '../src/identity/issueCertificate.ts';
import { createRegistry, type Registry } from '../src/identity/registry.ts';
import { signSas } from '../src/identity/sas.ts';

// Which certificates prove what, at which time (H19, H20).

const start = Date.parse('2026-01-01T00:00:00Z');
const year = 366 * 24 * 3600 * 1000;
let now = start;
const made: Record<string, Issued> = {};
const make = async (name: string, request: Partial<CertificateRequest>) => {
  made[name] = await issueCertificate({ name, role: 'client', from: start, until: start + year, ...request });
};
const pem = (name: string): string => made[name]?.cert ?? '';
const chain = (...names: string[]) => names.map((name) => new X509Certificate(pem(name)));
const sha256 = (name: string) => chain(name)[0]?.fingerprint256.replaceAll(':', '') ?? '';

beforeAll(async () => {
  await make('root', { role: 'authority', until: start + 2 * year });
  await make('old root', { role: 'authority', until: start + year / 2 });
  await make('middle', { role: 'authority', issuer: made['root'] });
  await Promise.all([
    make('d1', { issuer: made['middle'] }),
    make('direct', { name: 'd1', issuer: made['root'] }),
    make('later', { name: 'd1', issuer: made['root'], from: start + year / 2 }),
    make('of old', { name: 'd1', issuer: made['old root'] }),
    make('self', { name: 'd1' }),
    make('impostor', { name: 'root', role: 'authority' }),
    make('d1/m', { issuer: made['middle'] }),
  ]);
  await make('forged', { name: 'd1', issuer: { ...(made['impostor'] as Issued) } });
  await make('by a device', { name: 'd1', issuer: made['direct'] });
  made['bare'] = await withoutExtensions('d2', made['root'] as Issued);
  await make('by bare', { name: 'd1', issuer: made['bare'] });
});

/** A certificate as `openssl x509 -req` makes it: it does not say what it may be used for. */
async function withoutExtensions(name: string, issuer: Issued): Promise<Issued> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const der = createPrivateKey(issuer.key).export({ type: 'pkcs8', format: 'der' });
  const certificate = await X509CertificateGenerator.create({
    ...{ serialNumber: '01', subject: `CN=${name}`, issuer: 'CN=root', signingAlgorithm: algorithm },
    ...{ notBefore: new Date(start), notAfter: new Date(start + year), publicKey: keys.publicKey },
    signingKey: await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']),
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
  return { cert: certificate.toString('pem'), key };
}

let registry: Registry;
let authorities: CaCertificates;
beforeEach(() => {
  now = start + 1000;
  registry = createRegistry(() => now);
  authorities = createCaCertificates(() => now);
  for (const name of ['root', 'old-root']) authorities.add(name, pem(name.replace('-', ' ')), true);
});

const logIn = (certificates: readonly X509Certificate[], moduleId?: string, token?: string) =>
  createAccess({ hubName: 'hub', policies: new Map(), registry, certificates: authorities, now: () => now }).login(
    'd1',
    moduleId,
    { certificates, token },
  );

describe('a device behind an authority', () => {
  beforeEach(() => void registry.create('d1', { authentication: { type: 'certificateAuthority' } }));

  test.each<[string, string[], number?]>([
    ['with the whole chain', ['d1', 'middle', 'root']],
    ['without the root', ['d1', 'middle']],
    ['right behind it', ['direct']],
    ['while the authority is still valid', ['of old'], start + year / 2 - 1000],
  ])('gets in %s', (_, names, at = now) => {
    now = at;
    const authMethod = expect.stringContaining('"type":"x509"');
    expect(logIn(chain(...names))).toMatchObject({ identity: { clientId: 'd1' }, authMethod });
  });
  test.each<[string, string[], RegExp, (() => void)?]>([
    ['without a certificate', [], /presented none/],
    ['without what lies between', ['d1'], /No registered and verified CA certificate/],
    ['with what lies between in another order', ['d1', 'root', 'middle'], /No registered and verified/],
    ['by itself', ['self'], /No registered and verified/],
    ['behind another authority of the same name', ['forged', 'impostor'], /No registered and verified/],
    ['behind another device', ['by a device', 'direct'], /No registered and verified/],
    ['behind one that says nothing of its use', ['by bare', 'bare'], /No registered and verified/],
    ['in the name of another device', ['middle'], /common name/],
    ['before its time', ['later'], /expired, or is not valid yet/],
    ['after its time', ['direct'], /expired, or is not valid yet/, () => (now = start + year)],
    ['after the time of the authority', ['of old'], /No registered/, () => (now = start + year / 2)],
    ['before the authority is verified', ['direct'], /No registered/, () => authorities.add('root', pem('root'))],
    ['when the authority is gone', ['direct'], /No registered/, () => authorities.remove('root')],
    ['when it is disabled', ['direct'], /disabled/, () => registry.update('d1', { status: 'disabled' })],
  ])('does not get in %s', (_, names, why, change) => {
    change?.();
    expect(() => logIn(chain(...names))).toThrow(why);
  });
  test.each([
    [9, 'gets in'],
    [10, 'No registered'],
  ])('behind a chain of %i others: %s', async (others, outcome) => {
    const names = Array.from({ length: others }, (_, i) => `chain-${i}`);
    for (const [i, name] of names.entries())
      await make(name, { role: 'authority', issuer: made[names[i - 1] ?? 'root'] });
    await make('last', { name: 'd1', issuer: made[names.at(-1) ?? ''] });
    const attempt = () => logIn(chain('last', ...names.reverse())) && 'gets in';
    if (outcome === 'gets in') expect(attempt()).toBe(outcome);
    else expect(attempt).toThrow(outcome);
  });
  test('does not get in by its keys', () => {
    const { primaryKey } = registry.get('d1') ?? { primaryKey: '' };
    const token = signSas('localhost/devices/d1', primaryKey, 'base64', now / 1000 + 60);
    expect(() => logIn([], undefined, token)).toThrow(/presented none/);
    expect(() => logIn(chain('self'), undefined, token)).toThrow(/No registered/);
    registry.update('d1', { authentication: { type: 'sas' } });
    expect(logIn(chain('self'), undefined, token)).toMatchObject({ identity: { clientId: 'd1' } });
    expect(() => logIn(chain('d1', 'middle'))).toThrow(/by a token, and sent none/);
  });
  test('has modules whose certificates name both', () => {
    registry.create('d1', { moduleId: 'm', authentication: { type: 'certificateAuthority' } });
    expect(logIn(chain('d1/m', 'middle'), 'm').authMethod).toContain('"scope":"module"');
    expect(() => logIn(chain('d1', 'middle'), 'm')).toThrow(/common name/);
    expect(() => logIn(chain('d1/m', 'middle'))).toThrow(/common name/);
  });
});

describe('a device with thumbprints', () => {
  test.each(['primaryThumbprint', 'secondaryThumbprint'] as const)(
    'gets in by the %s while its certificate is valid',
    (which) => {
      registry.create('d1', { authentication: { type: 'selfSigned', [which]: sha256('self').toLowerCase() } });
      expect(logIn(chain('self'))).toMatchObject({ identity: { clientId: 'd1' } });
      expect(() => logIn(chain('d1', 'middle'))).toThrow(/neither of the thumbprints/);
      now = start + year;
      expect(() => logIn(chain('self'))).toThrow(/expired/);
    },
  );
  test.each(['', 'A'.repeat(39), 'A'.repeat(41), 'G'.repeat(40), 'AA:'.repeat(20), 'A'.repeat(63)])(
    'cannot have the thumbprint %j',
    (primaryThumbprint) => {
      const authentication = { type: 'selfSigned', primaryThumbprint } as const;
      expect(() => registry.create('d1', { authentication })).toThrow(/40 \(SHA-1\) or 64 \(SHA-256\)/);
    },
  );
});

describe('the key of a CA certificate', () => {
  const proofOf = async (commonName: string, issuer: string, times: Partial<CertificateRequest> = {}) => {
    await make('proof', { name: commonName, issuer: made[issuer], ...times });
    return pem('proof');
  };
  const isVerified = () => authorities.list().find(({ name }) => name === 'new')?.isVerified;

  test('is proved by a certificate for the last code', async () => {
    expect(authorities.add('new', pem('root'))).toMatchObject({
      subject: 'CN=root',
      expiry: new Date(start + 2 * year).toISOString(),
      thumbprint: chain('root')[0]?.fingerprint.replaceAll(':', ''),
      isVerified: false,
    });
    const first = authorities.generateVerificationCode('new');
    const last = authorities.generateVerificationCode('new');
    expect(last).not.toBe(first);
    const late = { from: now + 2000, until: now + year };
    for (const [proof, why] of [
      [await proofOf(first, 'root'), /verification code that was generated last/],
      [await proofOf(last, 'impostor'), /not issued by the registered one/],
      [await proofOf(last, 'middle'), /not issued by the registered one/],
      [await proofOf(last, 'root', late), /not valid now/],
      ['none', /in the form PEM/],
    ] as const)
      expect(() => authorities.verify('new', proof)).toThrow(why);
    expect(isVerified()).toBe(false);
    const proof = await proofOf(last, 'root');
    expect(authorities.verify('new', proof)).toMatchObject({ isVerified: true });
    expect(() => authorities.verify('new', proof)).toThrow(/No verification code/);
    expect(isVerified()).toBe(true);
    authorities.add('new', pem('old root'));
    expect(isVerified()).toBe(false);
  });
  test.each([
    ['a name with other characters', 'a b', 'root', /1 to 64 letters/],
    ['no name', '', 'root', /1 to 64 letters/],
    ['what is no certificate', 'new', 'none', /in the form PEM/],
    ['the certificate of a device', 'new', 'self', /no CA certificate/],
    ['one that has expired', 'new', 'old root', /expired/],
  ])('is not asked for %s', (_, name, certificate, why) => {
    now = start + year / 2;
    expect(() => authorities.add(name, pem(certificate))).toThrow(why);
  });
  test('is kept for 25 certificates at most', () => {
    for (let i = authorities.list().length; i < 25; i++) authorities.add(`ca-${i}`, pem('root'));
    expect(() => authorities.add('more', pem('root'))).toThrow(/25 CA certificates at most/);
    expect(authorities.add('root', pem('middle'))).toMatchObject({ subject: 'CN=middle' });
    expect(authorities.remove('root')).toBe(true);
    expect(authorities.remove('root')).toBe(false);
    expect(() => authorities.generateVerificationCode('root')).toThrow(/no CA certificate of this name/);
  });
});
