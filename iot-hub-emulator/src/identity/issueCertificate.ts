import 'reflect-metadata';
import { createPrivateKey, KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import { loopbackNames } from '../network/reach.ts';

/** A certificate and its key, as PEM. */
export interface Issued {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate is for. */
export interface CertificateRequest {
  /** The common name. */
  name: string;
  /** A final authority issues no certificate of another authority. */
  role: 'authority' | 'finalAuthority' | 'server' | 'client';
  /** Names and addresses of a server; default those of this machine. */
  names?: readonly string[];
  /** Milliseconds since 1970; default since yesterday, for a year. */
  from?: number | undefined;
  until?: number | undefined;
  /** Absent: it is signed with its own key. */
  issuer?: Issued | undefined;
}

const day = 24 * 3600 * 1000;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** A new key, and a certificate for it. */
export async function issueCertificate(request: CertificateRequest): Promise<Issued> {
  const { name, role, names = loopbackNames, from = Date.now() - day, until = from + 366 * day, issuer } = request;
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const above = issuer && new x509.X509Certificate(issuer.cert);
  const subject = [{ CN: [name] }];
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    subject,
    issuer: above?.subjectName.toJSON() ?? subject,
    notBefore: new Date(from),
    notAfter: new Date(until),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: issuer ? await importKey(issuer.key) : keys.privateKey,
    extensions: [
      ...(await extensionsFor(role, keys.publicKey, names)),
      ...(above ? [await x509.AuthorityKeyIdentifierExtension.create(above.publicKey)] : []),
    ],
  });
  return {
    cert: `${certificate.toString('pem')}\n`,
    key: KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

async function extensionsFor(
  role: CertificateRequest['role'],
  publicKey: webcrypto.CryptoKey,
  names: readonly string[],
): Promise<x509.Extension[]> {
  if (role === 'authority' || role === 'finalAuthority')
    return [
      new x509.BasicConstraintsExtension(true, role === 'authority' ? undefined : 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ];
  const use = role === 'server' ? x509.ExtendedKeyUsage.serverAuth : x509.ExtendedKeyUsage.clientAuth;
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([use]),
    ...(role === 'server' ? [new x509.SubjectAlternativeNameExtension(names.map(generalName))] : []),
  ];
}

const generalName = (value: string): x509.JsonGeneralName => ({ type: isIP(value) > 0 ? 'ip' : 'dns', value });

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}
