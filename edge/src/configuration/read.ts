import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Stamps, stampOf, watchFiles } from '@device-messaging/telemetry/files.ts';
import type { z } from 'zod';
import { ConfigurationError, credentialProblems, crossCheck, type Problem } from './checks.ts';
import { elementOf, type Json, memberOf, readJsonWithComments } from './jsonWithComments.ts';
import { type ConfigurationFile, schema } from './schema.ts';

interface CertificateFiles {
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
}

/** The configuration file with the contents of the files that it names. */
export interface Configuration extends Omit<ConfigurationFile, 'hub' | 'network' | 'broker' | 'files'> {
  readonly hub: CertificateFiles & { readonly connectionString: string; readonly webSockets: boolean };
  readonly network: { readonly ca?: string };
  readonly broker: CertificateFiles & {
    readonly url: string;
    readonly username?: string;
    readonly password?: string;
    readonly clientId?: string;
  };
  readonly files: Omit<ConfigurationFile['files'], 'caFile'> & { readonly ca?: string };
}

/**
 * Reads the configuration file and the files that it names; their paths are relative to its folder.
 * @param stamps gets the files that it reads, also if it throws
 * @throws ConfigurationError
 */
export async function readConfiguration(path: string, stamps: Stamps = new Map()): Promise<Configuration> {
  async function readStamped(one: string): Promise<string> {
    stamps.set(one, await stampOf(one));
    return readFile(one, 'utf8');
  }
  const text = await readStamped(path).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigurationError([`the file cannot be read: ${error.code}`]);
  });
  const { file, json } = parseConfiguration(text);
  const { configuration, problems } = await loadFiles(file, dirname(path), readStamped);
  refuse(problems, json);
  return configuration;
}

/** @throws ConfigurationError */
export function parseConfiguration(text: string) {
  const json = readJsonWithComments(text);
  const { data, error } = schema.safeParse(json.value);
  refuse(data ? crossCheck(data) : error.issues.flatMap(problemsOf), json);
  return { file: data as ConfigurationFile, json };
}

/** @throws ConfigurationError if there is a problem */
function refuse(problems: readonly Problem[], { lineOf }: Json): void {
  if (problems.length === 0) return;
  throw new ConfigurationError(
    problems.map(([place, what]) => `line ${lineOf(place)}: ${place || 'the file'}: ${what}`),
  );
}

function problemsOf({ path, code, message, ...issue }: z.core.$ZodIssue): Problem[] {
  const place = path.reduce<string>(
    (before, key) => (typeof key === 'number' ? elementOf(before, key) : memberOf(before, String(key))),
    '',
  );
  if (code === 'unrecognized_keys')
    return (issue as z.core.$ZodIssueUnrecognizedKeys).keys.map((key) => [memberOf(place, key), 'is not a setting']);
  if (code !== 'invalid_type' || message.startsWith('must')) return [[place, message]];
  const { expected } = issue as z.core.$ZodIssueInvalidType;
  const isMissing = message.endsWith('received undefined');
  return [[place, isMissing ? 'is missing' : `must be ${typeNames[expected] ?? expected}`]];
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  array: 'an array',
  object: 'an object',
  boolean: 'true or false',
};

/** The configuration counts only if there are no problems. */
async function loadFiles(file: ConfigurationFile, folder: string, read: (path: string) => Promise<string>) {
  const { hub, network, broker, files, ...rest } = file;
  const problems: Problem[] = [];
  async function content(place: string, path: string | undefined): Promise<string | undefined> {
    if (path === undefined) return undefined;
    try {
      const text = await read(resolve(folder, path));
      if (text.trim() === '') problems.push([place, `${path} is empty: write the content into it`]);
      return text;
    } catch (error) {
      problems.push([place, `${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`]);
      return undefined;
    }
  }
  const connectionString =
    hub.connectionString ?? (await content('hub.connectionStringFile', hub.connectionStringFile));
  const certificatesOf = async (place: 'hub' | 'broker', files: typeof hub | typeof broker) => ({
    ca: await content(`${place}.caFile`, files.caFile),
    certificate: await content(`${place}.certificateFile`, files.certificateFile),
    key: await content(`${place}.keyFile`, files.keyFile),
  });
  const { url, username, clientId, passwordFile } = broker;
  const configuration: Configuration = {
    ...rest,
    modules: rest.modules.map((module) => ({
      ...module,
      ...(module.files && { files: { ...module.files, folder: resolve(folder, module.files.folder) } }),
    })),
    hub: defined({
      connectionString: connectionString?.trim() ?? '',
      ...(await certificatesOf('hub', hub)),
      webSockets: hub.webSockets,
    }),
    network: defined({ ca: await content('network.caFile', network.caFile) }),
    broker: defined({
      ...{ url, username, clientId },
      password: broker.password ?? (await content('broker.passwordFile', passwordFile))?.replace(/\r?\n$/, ''),
      ...(await certificatesOf('broker', broker)),
    }),
    files: defined({
      ...{ hosts: files.hosts, atOnce: files.atOnce, loopbackHttp: files.loopbackHttp },
      ca: await content('files.caFile', files.caFile),
    }),
  };
  if (problems.length === 0) problems.push(...credentialProblems(configuration.hub, hub.connectionStringFile));
  return { configuration, problems };
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without the members that are undefined. */
export const defined = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<T>;

/** The file of the configuration, as it was read at the start. */
export interface ConfigurationFileRead {
  readonly path: string;
  readonly stamps: Stamps;
  /** Between two looks, in milliseconds. */
  readonly everyMs?: number;
  /** Told of each configuration before it takes effect: it may have other secrets. */
  readonly found?: (configuration: Configuration) => void;
}

interface Taking {
  take(configuration: Configuration): Promise<void>;
  /** The file has faults. */
  refuse(problems: readonly string[]): void;
}

const usualMs = 2_000;

/** Reads the configuration again when its file, or one that it names, has changed (D212). */
export const watchConfiguration = ({ path, stamps, everyMs = usualMs, found }: ConfigurationFileRead, by: Taking) =>
  watchFiles(stamps, everyMs, async () => {
    const read: Stamps = new Map();
    try {
      const configuration = await readConfiguration(path, read);
      found?.(configuration);
      await by.take(configuration);
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      by.refuse(error.problems);
    }
    return read;
  });
