import { stampsNow, watchFiles } from '@device-messaging/telemetry/files.ts';
import { within } from '../concurrency/waiting.ts';
import type { LogLines, Troubles } from '../observing/log.ts';
import { secretFiles } from '../settings/constants.ts';
import { addSecret, readSecretFileLater, refuseUnfit, type SecretFile, secretFilesOf } from '../settings/secrets.ts';
import { settingIn } from '../settings/table.ts';

/** A secret in a file, which can change while the program runs (D397). */
export interface RotatingSecret {
  current(): string;
  /**
   * The secret to try next, because the other side refuses this one: the file is read at once. The same when there is no other. Never
   * rejects.
   */
  renew(refused: string): Promise<string>;
  /**
   * @param listener called after each change
   * @returns ends that
   */
  onChange(listener: () => void): () => void;
}

/** A secret of the settings: fixed, or in a file. */
export type Secret = string | RotatingSecret;

export const isSecret = (access: unknown): access is Secret =>
  typeof access === 'string' || (typeof access === 'object' && access !== null && 'renew' in access);

export const currentOf = (secret: Secret): string => (typeof secret === 'string' ? secret : secret.current());

/** @param refused by the other side */
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
export interface SecretFilesTelling {
  readonly log: Pick<LogLines, 'info'>;
  readonly troubles: Troubles;
}

/** The stamp of a file that is to be read at the next look, whether it changes or not. */
const unseen = '';

/** A volume that does not answer holds up nothing. */
const readMs = 5_000;
/** A caller with a wrong token cannot have the file read more often. */
const restMs = 1_000;

const still = () => ({});

export type SecretFiles = ReturnType<typeof openSecretFiles>;

/**
 * The secrets that these settings have in files (D397).
 * @param telling undefined in a command: it reads them again only when the other side refuses the value
 */
export function openSecretFiles(settings: object, telling?: SecretFilesTelling) {
  const files = secretFilesOf(settings);
  const secrets = new Map(files.map((file) => [file.path, rotating(file, settings, telling)]));
  const lookAll = async () => {
    const stamps = await stampsNow(files.map(({ file }) => file));
    const looks = files.map(async ({ path, file }) => {
      if ((await secrets.get(path)?.look()) === false) stamps.set(file, unseen); // it may be well without a change
    });
    await Promise.all(looks);
    return stamps;
  };
  // None was known when the settings were read: a change in between would be missed otherwise.
  const unknown = new Map(files.map(({ file }) => [file, unseen]));
  const watch =
    telling === undefined || files.length === 0
      ? undefined
      : watchFiles({ stamps: unknown, everyMs: secretFiles.lookMs, onChange: lookAll });
  return {
    /** By the path of the setting; undefined for a secret that is in no file. */
    of: (path: string): RotatingSecret | undefined => secrets.get(path),
    close: () => watch?.close(),
  };
}

function rotating(
  one: SecretFile,
  settings: object,
  telling: SecretFilesTelling | undefined,
): RotatingSecret & { look(): Promise<boolean> } {
  const { path, variable, file } = one;
  const first = String(settingIn({ ...settings }, path));
  const source = `file of ${variable}`;
  const fields = { setting: variable, file };
  const listeners = new Set<() => void>();
  let value = first;
  let reading: Promise<boolean> | undefined;
  let renewedAt = Number.NEGATIVE_INFINITY;

  function take(next: string) {
    if (next === value) return;
    addSecret(settings, path, next);
    value = next;
    telling?.log.info(fields, 'another secret was read from its file, and is in use');
    for (const listener of listeners) listener();
  }

  /** Returns whether the file is well. */
  async function read(): Promise<boolean> {
    try {
      const next = await within(readSecretFileLater(one), readMs);
      refuseUnfit(one, next, first);
      telling?.troubles.clear(source, 'the file of a secret can be used again', fields);
      take(next);
      return true;
    } catch (error) {
      const diagnosis = { cause: (error as Error).message };
      const message = 'the file of a secret cannot be used: the last value stays';
      telling?.troubles.raise(source, { level: 'warn', message, fields, diagnosis, still });
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
    async renew(refused) {
      if (value !== refused) return value;
      const isDue = performance.now() - renewedAt >= restMs;
      if (isDue) renewedAt = performance.now();
      if (isDue || reading !== undefined) await look();
      return value;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
