import 'reflect-metadata';
import { createPrivateKey, KeyObject, randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { readIfThere, writeWhole } from './secretFile.ts';

const day = 24 * 3600 * 1000;
const margin = 30 * day;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const names: x509.JsonGeneralNames = [
  { type: 'dns', value: 'localhost' },
  { type: 'ip', value: '127.0.0.1' },
  { type: 'ip', value: '::1' },
];

/** What a TLS server needs, as PEM text, and the file that its clients must trust. */
export interface Certificates {
  caFile: string;
  ca: string;
  cert: string;
  key: string;
}

interface Issued {
  cert: string;
  key: string;
}

/**
 * The hub's own certificate authority and its server certificate for localhost, 127.0.0.1 and ::1. Both are made at the
 * first start and kept in `directory` (keys 0600); either is made anew when it is within 30 days of its end or unusable.
 */
export async function ensureCertificates(directory: string, now: number = Date.now()): Promise<Certificates> {
  const ca =
    (await load(directory, 'ca', now)) ??
    (await keep(directory, 'ca', await issue('Sandbox hub CA', now, 3650 * day, undefined)));
  const stored = await load(directory, 'server', now);
  const server =
    stored && isIssuedBy(stored, ca)
      ? stored
      : await keep(directory, 'server', await issue('localhost', now, 365 * day, ca));
  return { caFile: join(directory, 'ca.pem'), ca: ca.cert, ...server };
}

async function load(directory: string, name: string, now: number): Promise<Issued | undefined> {
  const cert = await readIfThere(join(directory, `${name}.pem`));
  const key = await readIfThere(join(directory, `${name}.key`));
  if (cert === undefined || key === undefined) return undefined;
  try {
    const parsed = new X509Certificate(cert);
    const usable = parsed.checkPrivateKey(createPrivateKey(key)) && Date.parse(parsed.validTo) - now > margin;
    return usable ? { cert, key } : undefined;
  } catch {
    return undefined; // damaged: make another
  }
}

async function keep(directory: string, name: string, issued: Issued): Promise<Issued> {
  await writeWhole(join(directory, `${name}.key`), issued.key);
  await writeWhole(join(directory, `${name}.pem`), issued.cert, 0o644);
  return issued;
}

function isIssuedBy(server: Issued, ca: Issued): boolean {
  const issuer = new X509Certificate(ca.cert);
  const certificate = new X509Certificate(server.cert);
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

async function issue(name: string, now: number, life: number, issuer: Issued | undefined): Promise<Issued> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const subject = `CN=${name}`;
  const common = {
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    subject,
    notBefore: new Date(now - day),
    notAfter: new Date(now + life),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
  };
  const certificate = issuer
    ? await x509.X509CertificateGenerator.create({
        ...common,
        issuer: new x509.X509Certificate(issuer.cert).subject,
        signingKey: await importKey(issuer.key),
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
          new x509.SubjectAlternativeNameExtension(names),
          await x509.AuthorityKeyIdentifierExtension.create(new x509.X509Certificate(issuer.cert).publicKey),
        ],
      })
    : await x509.X509CertificateGenerator.create({
        ...common,
        issuer: subject,
        signingKey: keys.privateKey,
        extensions: [
          new x509.BasicConstraintsExtension(true, 0, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
  return {
    cert: `${certificate.toString('pem')}\n`,
    key: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}
