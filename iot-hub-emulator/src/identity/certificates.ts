import { createPrivateKey, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { loopbackNames } from '../network/reach.ts';
import { isIssuedBy } from './chain.ts';
import { type Issued, issueCertificate } from './issueCertificate.ts';
import { readIfThere, writeWhole } from './secretFile.ts';

const day = 24 * 3600 * 1000;
const margin = 30 * day;

/** What a TLS server needs, as PEM text, and the file that its clients must trust. */
export interface Certificates {
  caFile: string;
  ca: string;
  cert: string;
  key: string;
}

/**
 * The hub's own certificate authority and its server certificate for these names, by default those of this machine. Both
 * are made at the first start and kept in `directory` (keys 0600); either is made anew when it is within 30 days of its end or
 * unusable, that of the server also when it lacks a name.
 */
export async function ensureCertificates(
  directory: string,
  now: number = Date.now(),
  names: readonly string[] = loopbackNames,
): Promise<Certificates> {
  const from = now - day;
  const ca =
    (await load(directory, 'ca', now)) ??
    (await keep(
      directory,
      'ca',
      await issueCertificate({ name: 'Sandbox hub CA', role: 'finalAuthority', from, until: now + 3650 * day }),
    ));
  const stored = await load(directory, 'server', now);
  const server =
    stored && isServerOf(new X509Certificate(stored.cert), new X509Certificate(ca.cert), names)
      ? stored
      : await keep(
          directory,
          'server',
          await issueCertificate({
            name: 'localhost',
            role: 'server',
            names,
            from,
            until: now + 365 * day,
            issuer: ca,
          }),
        );
  return { caFile: join(directory, 'ca.pem'), ca: ca.cert, ...server };
}

const isServerOf = (certificate: X509Certificate, issuer: X509Certificate, names: readonly string[]): boolean =>
  isIssuedBy(certificate, issuer) &&
  names.every((name) => (isIP(name) > 0 ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined);

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
