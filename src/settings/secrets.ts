import { readFileSync, type Stats, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { proxySecrets } from '@device-messaging/telemetry/proxies.ts';
import { settingFormats } from './formats.ts';
import { everySetting, type Groups, type MethodsSettings, type Settings, settingDocs, settingIn } from './table.ts';

/** A file that holds a secret (D396): its setting (`hub.eventsConnectionString`), the variable that names it, and the one that would hold it. */
export type SecretFile = Readonly<Record<'path' | 'variable' | 'holds' | 'file', string>>;

/** A file, or what is in it, that cannot be used. The message says why and what to do, without what is in the file. */
class UnusableSecret extends Error {
  override readonly name = 'UnusableSecret';
}

export function secretFilesOf(settings: object): SecretFile[] {
  return settingDocs().flatMap(({ path, env: variable, holds }) => {
    const file = settingIn(settings, path);
    return holds !== undefined && typeof file === 'string' && file !== ''
      ? [{ path: path.replace(/File$/, ''), variable, holds, file }]
      : [];
  });
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

/** The same without waiting for the volume. @throws UnusableSecret */
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
  const must = 'it must be a file with the secret that the user of the process may read';
  return new UnusableSecret(`${file} cannot be read (${code}): ${must}`);
}

/** Looks whether a value can replace the one that the program has started with. @throws UnusableSecret */
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

const known = new WeakMap<object, readonly string[]>();

/** What has been replaced stays in the list until as many others have come: it may be in use still. */
const mostReplaced = 100;

/** Texts that must not leave the service (G5); the same list for the same settings, until there are others. */
export function secretsOf(settings: Settings | MethodsSettings): readonly string[] {
  const found = known.get(settings) ?? secretsIn(settings);
  known.set(settings, found);
  return found;
}

/** A file has another secret than at the start (D397). */
export function addSecret(settings: object, path: string, value: string): void {
  const first = secretsIn(settings);
  const before = known.get(settings) ?? first;
  const later = [...before.slice(first.length), ...textsOf(path, value)].slice(-mostReplaced);
  known.set(settings, [...first, ...later]);
}

function secretsIn(settings: object): readonly string[] {
  const found = settingDocs().flatMap(({ path, secret }) => {
    const value = settingIn(settings, path);
    return secret && typeof value === 'string' ? textsOf(path, value) : [];
  });
  return [...new Set(found)].filter((secret) => secret !== '');
}

/** What of the value of a setting is secret: of a proxy its user and password only. */
const textsOf = (path: string, value: string): readonly string[] =>
  /proxy$/i.test(path) ? proxySecrets(value) : /connectionString$/i.test(path) ? keysIn(value) : [value];

/** The secret values of `Name=value;Name=value`; any other text is secret as a whole. */
function keysIn(value: string): string[] {
  if (!/^\w+=[^;]*;/.test(value)) return [value];
  return value.split(';').flatMap((part) => /^\s*\w*(?:Key|Signature)\s*=\s*(.*?)\s*$/i.exec(part)?.[1] ?? []);
}

/** The settings in effect, for the log: of secrets only that they are set, of connection strings what is no secret (G5). */
export function redactedSettings(settings: Settings | MethodsSettings): Groups {
  const every: Groups = everySetting;
  const entries = Object.entries(settings as Groups).map(([group, members]) => {
    const shown = Object.entries(members).map(([name, value]) => {
      const setting = every[group]?.[name];
      // What is not known to be harmless is a secret.
      return [name, shownOf(name, value, setting === undefined || Object(setting).sensitive === true)];
    });
    return [group, Object.fromEntries(shown)];
  });
  return Object.fromEntries(entries);
}

const hidden = '[set]';

function shownOf(name: string, value: unknown, isSecret: boolean): unknown {
  if (typeof value !== 'string') return isSecret ? hidden : value;
  if (/connectionString$/i.test(name)) return value.split(';').flatMap(harmlessPart).join(';');
  if (value === '') return value;
  if (/(url|^https?Proxy)$/i.test(name)) return withoutSecrets(value);
  return isSecret ? hidden : value;
}

/** The parts of connection strings that say where and as whom. */
const harmless: readonly string[] = [
  ...['Endpoint', 'EntityPath', 'HostName', 'SharedAccessKeyName', 'UseDevelopmentEmulator', 'UseDevelopmentStorage'],
  ...['DefaultEndpointsProtocol', 'AccountName', 'BlobEndpoint', 'EndpointSuffix'],
];

function harmlessPart(part: string): string[] {
  const at = part.indexOf('=');
  const name = part.slice(0, at).trim();
  if (at < 0 || name === '') return [];
  const value = part.slice(at + 1).trim();
  if (!harmless.includes(name)) return /^\w{1,40}$/.test(name) ? [`${name}=${hidden}`] : [];
  return [`${name}=${/^[\w.-]+(:\d+)?$/.test(value) ? value : withoutSecrets(value)}`];
}

/** Without user, query and fragment. */
function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return hidden;
  const { protocol, host, pathname } = new URL(url);
  return host === '' ? hidden : `${protocol}//${host}${pathname}`;
}
