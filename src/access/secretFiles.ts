import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { type FileWatch, type Stamps, stampsNow, watchFiles } from '@device-messaging/telemetry/files.ts';
import { within } from '../concurrency/waiting.ts';
import type { LogLines, Troubles } from '../observing/log.ts';
import { ConfigurationError, type MethodsSettings } from '../settings/config.ts';
import { secretFiles } from '../settings/constants.ts';
import { addSecret, readSecretFileLater, refuseUnfit, type SecretFile, secretFilesOf } from '../settings/secrets.ts';
import { settingIn } from '../settings/table.ts';

/** A secret in a file, which can change while the program runs (D397). */
interface RotatingSecret {
  current(): string;
  /** The secret to try next, because the other side refuses this one: the file is read at once. The same when there is no other. Never rejects. */
  renew(refused: string): Promise<string>;
  /** @param listener called after each change @returns ends that */
  onChange(listener: () => void): () => void;
}

export type Secret = string | RotatingSecret;

export const isSecret = (access: unknown): access is Secret =>
  typeof access === 'string' || (typeof access === 'object' && access !== null && 'renew' in access);

export const currentOf = (secret: Secret): string => (typeof secret === 'string' ? secret : secret.current());

export const renewed = async (secret: Secret, refused: string): Promise<string> =>
  typeof secret === 'string' ? secret : secret.renew(refused);

/** A secret with what another one has: it changes with it. */
export function derivedFrom(secret: Secret, make: (value: string) => string): Secret {
  if (typeof secret === 'string') return make(secret);
  const current = () => make(secret.current());
  return {
    current,
    async renew(refused) {
      if (current() === refused) await secret.renew(secret.current());
      return current();
    },
    onChange: secret.onChange,
  };
}

/** Calls the listener after each change of what is used with a key; an identity has none. @returns ends that */
export const whenChanged = (access: unknown, listener: () => void): (() => void) =>
  isSecret(access) && typeof access !== 'string' ? access.onChange(listener) : () => {};

/** What tells of files that cannot be used; with it, files are looked at from time to time. */
export type SecretFilesTelling = { readonly log: Pick<LogLines, 'info'>; readonly troubles: Troubles };

function tellingOf(source: string, setting: string, file: string, telling?: SecretFilesTelling) {
  const fields = { setting, file };
  return {
    isChanged: () => telling?.log.info(fields, 'another secret was read from its file, and is in use'),
    isWell: () => telling?.troubles.clear(source, 'the file of a secret can be used again', fields),
    isUnusable(cause: string) {
      const message = 'the file of a secret cannot be used: the last value stays';
      telling?.troubles.raise(source, { level: 'warn', message, fields, diagnosis: { cause }, still: () => ({}) });
    },
  };
}

/** Files that are to be read at the next look, whether they change or not. */
const unseen = (files: readonly string[]): Stamps => new Map(files.map((file) => [file, '']));

/** A volume that does not answer holds up nothing. */
const readMs = 5_000;
/** A caller with a wrong token cannot have the file read more often. */
const restMs = 1_000;

/** The secrets that these settings have in files (D397). @param telling undefined: they are read again only when the other side refuses one */
export function openSecretFiles(settings: object, telling?: SecretFilesTelling) {
  const files = secretFilesOf(settings);
  const secrets = new Map(files.map((file) => [file.path, rotating(file, settings, telling)]));
  async function lookAll() {
    const stamps = await stampsNow(files.map(({ file }) => file));
    const looks = files.map(async ({ path, file }) => {
      if ((await secrets.get(path)?.look()) === false) stamps.set(file, ''); // it may be well without a change
    });
    await Promise.all(looks);
    return stamps;
  }
  // None was known when the settings were read: a change in between would be missed otherwise.
  const stamps = unseen(files.map(({ file }) => file));
  const watch = telling && files.length > 0 ? watchFiles(stamps, secretFiles.lookMs, lookAll) : undefined;
  return {
    /** By the path of the setting; undefined for a secret that is in no file. */
    of: (path: string): RotatingSecret | undefined => secrets.get(path),
    close: () => watch?.close(),
  };
}

function rotating(one: SecretFile, settings: object, telling: SecretFilesTelling | undefined) {
  const { path, variable, file } = one;
  const first = String(settingIn({ ...settings }, path));
  const told = tellingOf(`file of ${variable}`, variable, file, telling);
  const listeners = new Set<() => void>();
  let value = first;
  let reading: Promise<boolean> | undefined;
  let renewedAt = Number.NEGATIVE_INFINITY;

  function take(next: string) {
    if (next === value) return;
    addSecret(settings, path, next);
    value = next;
    told.isChanged();
    for (const listener of listeners) listener();
  }

  /** Returns whether the file is well. */
  async function read(): Promise<boolean> {
    try {
      const next = await within(readSecretFileLater(one), readMs);
      refuseUnfit(one, next, first);
      told.isWell();
      take(next);
      return true;
    } catch (error) {
      told.isUnusable((error as Error).message);
      return false;
    }
  }

  async function look(): Promise<boolean> {
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return {
    current: () => value,
    look,
    async renew(refused: string) {
      if (value !== refused) return value;
      const isDue = performance.now() - renewedAt >= restMs;
      if (isDue) renewedAt = performance.now();
      if (isDue || reading !== undefined) await look();
      return value;
    },
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export type Certificate = { readonly cert: string; readonly key: string };
type CertificateFiles = Pick<MethodsSettings['methods'], 'tlsCertificateFile' | 'tlsKeyFile'>;

/** Undefined when no certificate is configured. @throws ConfigurationError when it cannot be read or is invalid */
export function readCertificate(files: CertificateFiles): Certificate | undefined {
  const { tlsCertificateFile, tlsKeyFile } = files;
  if (tlsCertificateFile === '') return undefined;
  try {
    return valid(readFileSync(tlsCertificateFile, 'utf8'), readFileSync(tlsKeyFile, 'utf8'));
  } catch (error) {
    throw refusalOf(error, files);
  }
}

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

/**
 * Reads certificate and key again when one of their files changes (D397). Those that do not belong together, as in a change, are not used.
 * @param first undefined: none is configured
 */
export function watchCertificate(
  files: CertificateFiles,
  first: Certificate | undefined,
  telling: SecretFilesTelling,
  use: (certificate: Certificate) => void,
): Pick<FileWatch, 'close'> {
  if (first === undefined) return { close: () => {} };
  const paths = [files.tlsCertificateFile, files.tlsKeyFile];
  const told = tellingOf('certificate of the front door', 'METHODS_TLS_CERTIFICATE_FILE', paths[0] ?? '', telling);
  let used = first;

  return watchFiles(unseen(paths), secretFiles.lookMs, async () => {
    const stamps = await stampsNow(paths);
    try {
      // Without waiting for the volume.
      const [cert = '', key = ''] = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
      const found = valid(cert, key);
      told.isWell();
      if (cert === used.cert && key === used.key) return stamps;
      used = found;
      use(found);
      told.isChanged();
      return stamps;
    } catch (error) {
      told.isUnusable(refusalOf(error, files).message);
      return unseen(paths);
    }
  });
}
