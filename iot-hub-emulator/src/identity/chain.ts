// Loaded first: in Node 20, `toLegacyObject` loads a part of this module, which then never gets `createSecureContext`.
import 'node:tls';
import type { X509Certificate } from 'node:crypto';

/** A chain of more certificates is not followed: each costs the verification of a signature. */
const longest = 10;

/**
 * Whether one of the authorities stands behind the first of these certificates, of which each is issued by the next: all
 * are valid at `now` (milliseconds since 1970), and all but the first may issue certificates.
 */
export function leadsTo(
  authorities: readonly X509Certificate[],
  certificates: readonly X509Certificate[],
  now: number,
): boolean {
  for (const [i, certificate] of certificates.slice(0, longest).entries()) {
    const below = certificates[i - 1];
    if (!isValidAt(certificate, now) || (below && !isIssuedBy(below, certificate))) return false;
    if (authorities.some((authority) => isValidAt(authority, now) && isIssuedBy(certificate, authority))) return true;
  }
  return false;
}

/** Whether a certificate has the name and the signature of an issuer that may issue certificates. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  try {
    return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false; // a key of a kind that is not known
  }
}

export const isValidAt = ({ validFrom, validTo }: X509Certificate, now: number): boolean =>
  Date.parse(validFrom) <= now && now < Date.parse(validTo);

/** The common name of whom a certificate is for; undefined when there is none, or more than one. */
export function commonNameOf(certificate: X509Certificate): string | undefined {
  const name: unknown = certificate.toLegacyObject().subject?.CN;
  return typeof name === 'string' ? name : undefined;
}
