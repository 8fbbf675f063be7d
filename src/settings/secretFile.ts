import { readFileSync, type Stats, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { settingFormats } from './formats.ts';
import { settingIn } from './settingsFile.ts';
import { everySetting } from './table.ts';

/** A file that holds a secret (D396). */
export interface SecretFile {
  /** Of the secret's setting: `hub.eventsConnectionString`. */
  readonly path: string;
  /** That names the file. */
  readonly variable: string;
  /** That would hold the secret otherwise. */
  readonly holds: string;
  readonly file: string;
}

/** A file, or what is in it, that cannot be used. The message says why and what to do, without what is in the file. */
class UnusableSecret extends Error {
  override readonly name = 'UnusableSecret';
}

/** The files of secrets that these settings name. */
export function secretFilesOf(settings: object): SecretFile[] {
  return Object.entries(everySetting).flatMap(([group, members]) =>
    Object.entries(members).flatMap(([name, setting]) => {
      if (!('holds' in setting)) return [];
      const file = settingIn({ ...settings }, `${group}.${name}`);
      const path = `${group}.${name.replace(/File$/, '')}`;
      return typeof file === 'string' && file !== ''
        ? [{ path, variable: setting.env, holds: setting.holds, file }]
        : [];
    }),
  );
}

/** @throws UnusableSecret */
export function readSecretFile({ file }: SecretFile): string {
  try {
    refuseOther(statSync(file), file);
    return secretIn(readFileSync(file, 'utf8'), file);
  } catch (error) {
    throw unusable(error, file);
  }
}

/**
 * The same without waiting for the volume.
 * @throws UnusableSecret
 */
export async function readSecretFileLater({ file }: SecretFile): Promise<string> {
  try {
    refuseOther(await stat(file), file);
    return secretIn(await readFile(file, 'utf8'), file);
  } catch (error) {
    throw unusable(error, file);
  }
}

const mostBytes = 64 * 1024;

/** A pipe would be read once, or never end. */
function refuseOther(stats: Stats, file: string): void {
  if (!stats.isFile()) throw new UnusableSecret(`${file} is no file: name one that has the secret and nothing else`);
  if (stats.size > mostBytes) throw new UnusableSecret(`${file} has more than ${mostBytes} bytes: it holds no secret`);
}

/** Most programs that write a file end its last line. */
function secretIn(text: string, file: string): string {
  const secret = text.replace(/[\r\n]+$/, '');
  if (secret.trim() === '') throw new UnusableSecret(`${file} is empty: write the secret into it`);
  return secret;
}

function unusable(error: unknown, file: string): UnusableSecret {
  if (error instanceof UnusableSecret) return error;
  const { code } = error as NodeJS.ErrnoException;
  return new UnusableSecret(
    `${file} cannot be read (${code}): it must be a file with the secret that the user of the process may read`,
  );
}

/**
 * Looks whether a value can replace the one that the program has started with.
 * @throws UnusableSecret
 */
export function refuseUnfit({ path }: Pick<SecretFile, 'path'>, value: string, first: string): void {
  const setting: unknown = settingIn(everySetting, path);
  const { format } = setting as { readonly format: string };
  try {
    settingFormats[format]?.validate?.(value, setting as never);
  } catch (error) {
    throw new UnusableSecret(`its content ${(error as Error).message}`);
  }
  if (/connectionString$/i.test(path) && placeIn(value) !== placeIn(first))
    throw new UnusableSecret('its content names another place than at the start: restart the program to go there');
}

/** All that a change of keys leaves as it is: where it leads, and by which kind of key. */
const placeIn = (connectionString: string): string =>
  connectionString
    .split(';')
    .map((part) => part.trim().replace(/^(\w*Key|\w*Signature|SharedAccessKeyName)\s*=.*/, '$1='))
    .filter((part) => part !== '')
    .sort()
    .join(';');
