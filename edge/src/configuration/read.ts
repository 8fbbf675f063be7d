import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Stamps, stampOf } from '@device-messaging/telemetry/files.ts';
import type { z } from 'zod';
import { crossCheck, type Problem } from './crossChecks.ts';
import { credentialProblems } from './hubCredentials.ts';
import { elementOf, type Json, JsonError, memberOf, readJsonWithComments } from './jsonWithComments.ts';
import { type ConfigurationFile, schema } from './schema.ts';

/** The configuration is invalid; each problem names its line and its place. */
export class ConfigurationError extends Error {
  override name = 'ConfigurationError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** The configuration file with the contents of the files that it names. */
export interface Configuration extends Omit<ConfigurationFile, 'hub' | 'network' | 'broker' | 'files'> {
  readonly hub: {
    readonly connectionString: string;
    readonly ca?: string;
    readonly certificate?: string;
    readonly key?: string;
    readonly webSockets: boolean;
  };
  readonly network: { readonly ca?: string };
  readonly broker: {
    readonly url: string;
    readonly username?: string;
    readonly password?: string;
    readonly ca?: string;
    readonly certificate?: string;
    readonly key?: string;
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
  const json = readJson(text);
  const { configuration, problems } = await loadFiles(check(json), dirname(path), readStamped);
  refuse(problems, json);
  return configuration;
}

/** @throws ConfigurationError */
export const parseConfiguration = (text: string): ConfigurationFile => check(readJson(text));

function readJson(text: string): Json {
  try {
    return readJsonWithComments(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new ConfigurationError([error.message]);
  }
}

/** @throws ConfigurationError */
function check(json: Json): ConfigurationFile {
  const { data, error } = schema.safeParse(json.value);
  refuse(data ? crossCheck(data) : error.issues.flatMap(problemsOf), json);
  return data as ConfigurationFile;
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
async function loadFiles(
  { hub, network, broker, files, ...rest }: ConfigurationFile,
  folder: string,
  read: (path: string) => Promise<string>,
) {
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
  const { connectionStringFile, connectionString = await content('hub.connectionStringFile', connectionStringFile) } =
    hub;
  const { url, username, clientId, passwordFile, caFile, certificateFile, keyFile } = broker;
  const configuration: Configuration = {
    ...rest,
    modules: rest.modules.map((module) => ({
      ...module,
      ...(module.files && { files: { ...module.files, folder: resolve(folder, module.files.folder) } }),
    })),
    hub: defined({
      connectionString: connectionString?.trim() ?? '',
      ca: await content('hub.caFile', hub.caFile),
      certificate: await content('hub.certificateFile', hub.certificateFile),
      key: await content('hub.keyFile', hub.keyFile),
      webSockets: hub.webSockets,
    }),
    network: defined({ ca: await content('network.caFile', network.caFile) }),
    broker: defined({
      ...{ url, username, clientId },
      password: broker.password ?? (await content('broker.passwordFile', passwordFile))?.replace(/\r?\n$/, ''),
      ca: await content('broker.caFile', caFile),
      certificate: await content('broker.certificateFile', certificateFile),
      key: await content('broker.keyFile', keyFile),
    }),
    files: defined({
      ...{ hosts: files.hosts, atOnce: files.atOnce, loopbackHttp: files.loopbackHttp },
      ca: await content('files.caFile', files.caFile),
    }),
  };
  if (problems.length === 0) problems.push(...credentialProblems(configuration.hub, connectionStringFile));
  return { configuration, problems };
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

const defined = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as Defined<T>;
