import { X509Certificate } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import tls from 'node:tls';

/**
 * Trusts the authorities of a PEM file besides those that are trusted anyway, for every connection of the process that names none
 * of its own (D407).
 * @throws TypeError that says what is wrong with the text
 */
export function trustAlso(pem: string): void {
  const certificates = certificatesIn(pem);
  // What newer lines of Node.js have (22.19, 24.5).
  const { getCACertificates, setDefaultCACertificates } = tls as {
    getCACertificates?(type: 'default'): string[];
    setDefaultCACertificates?(certificates: readonly string[]): void;
  };
  if (getCACertificates && setDefaultCACertificates)
    setDefaultCACertificates([...getCACertificates('default'), ...certificates]);
  else trustInContexts(certificates);
}

/** @throws TypeError */
function certificatesIn(pem: string): readonly string[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (found.length === 0) throw new TypeError('has no certificate in PEM');
  for (const [index, one] of found.entries()) {
    try {
      void new X509Certificate(one).raw;
    } catch {
      throw new TypeError(`has a certificate that cannot be read, number ${index + 1}`);
    }
  }
  return found;
}

/** Every client of an older line makes its context by this function. `ca` would replace what it trusts; the native context adds to it. */
function trustInContexts(certificates: readonly string[]): void {
  const create = tls.createSecureContext;
  tls.createSecureContext = (options) => {
    const made = create(options);
    if (options?.ca === undefined) {
      const context: { addCACert(pem: string): void } = Reflect.get(made, 'context');
      for (const one of certificates) context.addCACert(one);
    }
    return made;
  };
  syncBuiltinESMExports();
}
