import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { type FileWatch, type Stamps, stampsNow, watchFiles } from '@device-messaging/telemetry/files.ts';
import { ConfigurationError, type MethodsSettings } from '../settings/config.ts';
import { secretFiles } from '../settings/constants.ts';
import type { SecretFilesTelling } from './secretFiles.ts';

/** PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

type CertificateFiles = Pick<MethodsSettings['methods'], 'tlsCertificateFile' | 'tlsKeyFile'>;

/**
 * Undefined when no certificate is configured.
 * @throws ConfigurationError when it cannot be read or is invalid
 */
export function readCertificate(files: CertificateFiles): Certificate | undefined {
  const { tlsCertificateFile, tlsKeyFile } = files;
  if (tlsCertificateFile === '') return undefined;
  try {
    return valid(readFileSync(tlsCertificateFile, 'utf8'), readFileSync(tlsKeyFile, 'utf8'));
  } catch (error) {
    throw refusalOf(error, files);
  }
}

/** @throws Error of TLS */
function valid(cert: string, key: string): Certificate {
  createSecureContext({ cert, key });
  return { cert, key };
}

function refusalOf(error: unknown, { tlsCertificateFile }: CertificateFiles): ConfigurationError {
  const { code, path } = error as NodeJS.ErrnoException;
  if (path === undefined)
    return new ConfigurationError([
      `METHODS_TLS_CERTIFICATE_FILE: is not a PEM certificate, or does not match the key in METHODS_TLS_KEY_FILE (${code})`,
    ]);
  const variable = path === tlsCertificateFile ? 'METHODS_TLS_CERTIFICATE_FILE' : 'METHODS_TLS_KEY_FILE';
  return new ConfigurationError([`${variable}: cannot be read (${code})`]);
}

const source = 'certificate of the front door';
const still = () => ({});

/**
 * Reads certificate and key again when one of their files changes (D397). Those that do not belong together, as in the middle
 * of a change, are not used.
 * @param first the one that is in use; undefined: none is configured
 * @param use takes another one for new connections
 */
export function watchCertificate(
  files: CertificateFiles,
  first: Certificate | undefined,
  { log, troubles }: SecretFilesTelling,
  use: (certificate: Certificate) => void,
): Pick<FileWatch, 'close'> {
  if (first === undefined) return { close: () => {} };
  const paths = [files.tlsCertificateFile, files.tlsKeyFile];
  const fields = { setting: 'METHODS_TLS_CERTIFICATE_FILE', file: files.tlsCertificateFile };
  let used = first;
  /** They are read at the next look, whether they change or not. */
  const unseen: Stamps = new Map(paths.map((path) => [path, '']));

  /** Without waiting for the volume. */
  async function look() {
    const [cert = '', key = ''] = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
    const found = valid(cert, key);
    troubles.clear(source, 'the file of a secret can be used again', fields);
    if (cert === used.cert && key === used.key) return;
    used = found;
    use(found);
    log.info(fields, 'another secret was read from its file, and is in use');
  }

  return watchFiles({
    stamps: unseen,
    everyMs: secretFiles.lookMs,
    async onChange() {
      const stamps = await stampsNow(paths);
      try {
        await look();
      } catch (error) {
        const diagnosis = { cause: refusalOf(error, files).message };
        const message = 'the file of a secret cannot be used: the last value stays';
        troubles.raise(source, { level: 'warn', message, fields, diagnosis, still });
        return unseen;
      }
      return stamps;
    },
  });
}
