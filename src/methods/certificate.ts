import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ConfigurationError, type MethodsSettings } from '../settings/config.ts';

/** PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * Undefined when no certificate is configured.
 * @throws ConfigurationError when it cannot be read or is invalid
 */
export function readCertificate({
  tlsCertificateFile,
  tlsKeyFile,
}: Pick<MethodsSettings['methods'], 'tlsCertificateFile' | 'tlsKeyFile'>): Certificate | undefined {
  if (tlsCertificateFile === '') return undefined;
  const certificate = {
    cert: read(tlsCertificateFile, 'METHODS_TLS_CERTIFICATE_FILE'),
    key: read(tlsKeyFile, 'METHODS_TLS_KEY_FILE'),
  };
  try {
    createSecureContext(certificate);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigurationError([
      `METHODS_TLS_CERTIFICATE_FILE: is not a PEM certificate, or does not match the key in METHODS_TLS_KEY_FILE (${code})`,
    ]);
  }
  return certificate;
}

function read(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigurationError([`${variable}: cannot be read (${(error as NodeJS.ErrnoException).code})`]);
  }
}
