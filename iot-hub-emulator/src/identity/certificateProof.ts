import type { X509Certificate } from 'node:crypto';
import { Refusal } from '../values/refusal.ts';
import type { Authentication } from './authentication.ts';
import { commonNameOf, isValidAt, leadsTo } from './chain.ts';
import type { Identity } from './registry.ts';

/**
 * Makes sure that these certificates, of which the client has the key of the first, are those of an identity that proves so
 * who it is. `authorities` are the CA certificates that count. Refuses with `amqp:unauthorized-access`.
 */
export function checkCertificates(
  certificates: readonly X509Certificate[],
  { clientId, authentication }: Identity,
  authorities: readonly X509Certificate[],
  now: number,
): void {
  const [own] = certificates;
  if (!own) throw unauthorized('The device proves who it is by a certificate, and presented none.');
  if (!isValidAt(own, now)) throw unauthorized('The certificate of the device has expired, or is not valid yet.');
  if (authentication.type === 'selfSigned') {
    if (!thumbprintsIn(authentication).some((one) => thumbprintsOf(own).includes(one)))
      throw unauthorized('The certificate has neither of the thumbprints of the device.');
    return;
  }
  if (commonNameOf(own) !== clientId)
    throw unauthorized('The common name of the certificate is not the id of the device, or of device/module.');
  if (!leadsTo(authorities, certificates, now))
    throw unauthorized('No registered and verified CA certificate stands behind the certificate of the device.');
}

function thumbprintsIn({ primaryThumbprint, secondaryThumbprint }: Extract<Authentication, { type: 'selfSigned' }>) {
  return [primaryThumbprint, secondaryThumbprint].flatMap((one) => (one === undefined ? [] : [one.toUpperCase()]));
}

/** SHA-1 and SHA-256 of a certificate, as the registry has them. */
export const thumbprintsOf = ({ fingerprint, fingerprint256 }: X509Certificate): [sha1: string, sha256: string] => [
  fingerprint.replaceAll(':', ''),
  fingerprint256.replaceAll(':', ''),
];

const unauthorized = (description: string) => new Refusal('amqp:unauthorized-access', description);
