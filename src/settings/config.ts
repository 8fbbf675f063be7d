import { join } from 'node:path';
import convict from 'convict';
import { methodsDisagreements, settingDisagreements } from './agreements.ts';
import { home } from './home.ts';
import { withLowerCase } from './proxies.ts';
import { quotedVariables, withoutQuotes } from './quoted.ts';
import { readSecretFile, secretFilesOf } from './secretFile.ts';
import { type FileValues, readSettingsFile, settingIn, settingsFileOf } from './settingsFile.ts';
import { everySetting, type MethodsSettings, methodsSchema, type Settings, schema } from './table.ts';

export type { MethodsSettings, Settings } from './table.ts';

/** The settings are invalid; `problems` has one line for each problem, without values of secrets. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads the settings of the service: defaults, then the file of the environment (`config/<NODE_ENV>.json`, that of
 * production when `NODE_ENV` is not set, or `CONFIG_FILE`), then environment variables. An empty variable counts as not set.
 * Secrets come from the environment, or from the files that the settings with `File` name (D396).
 * @param directory holds the files of the environments
 * @throws ConfigurationError with all problems
 */
export function readSettings(env: NodeJS.ProcessEnv, directory: string): Settings {
  return loaded(convict(schema, { env: given(env), args: [] }), schema, env, directory, settingDisagreements);
}

/** The same for the front door, which reads only the settings that it uses (M1). */
export function readMethodsSettings(env: NodeJS.ProcessEnv, directory: string): MethodsSettings {
  const config = convict(methodsSchema, { env: given(env), args: [] });
  return loaded(config, methodsSchema, env, directory, methodsDisagreements);
}

/** Only the settings of the admin port, for commands that ask it. */
export function readAdminSettings(env: NodeJS.ProcessEnv, directory: string): Settings['admin'] {
  const own = { admin: schema.admin };
  return loaded(convict(own, { env: given(env), args: [] }), own, env, directory, () => []).admin;
}

/** What is set, read as if it were without quotes: values that have them are refused, for no other reason than that. */
const given = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(withLowerCase(env)).flatMap(([name, value = '']) =>
      value === '' ? [] : [[name, withoutQuotes(value)]],
    ),
  );

type Groups = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

function loaded<S>(
  config: convict.Config<S>,
  own: Groups,
  env: NodeJS.ProcessEnv,
  directory: string,
  disagree: (settings: S) => string[],
): S {
  const problems: string[] = [];
  const file = settingsFileOf(given(env), directory);
  if (file !== undefined) {
    const values = readSettingsFile(file, problems);
    for (const path of secretPaths()) {
      if (settingIn(values, path) !== undefined)
        problems.push(`${path} is a secret: set ${envOf(path)} or ${envOf(path)}_FILE, and remove it from ${file}`);
    }
    if (problems.length === 0) config.load(withoutOthers(values, own));
  }
  const variables = settingDocs(own as convict.Schema<Groups>).map((setting) => setting.env);
  problems.push(...quotedVariables(env, ['NODE_ENV', 'CONFIG_FILE', ...variables]));
  const unusable = takeSecrets(config);
  problems.push(...unusable);
  try {
    config.validate({ allowed: 'strict' });
  } catch (error) {
    const holders = new Map(
      secretFilesOf(Object(config.getProperties())).map(({ path, variable }) => [path, variable]),
    );
    problems.push(...(error as Error).message.split('\n').map((problem) => named(problem, holders)));
  }
  const settings = config.getProperties();
  if (unusable.length === 0) problems.push(...disagree(settings));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return settings;
}

/** Puts the secrets that are in files in their places (D396). Returns one sentence for each that cannot be used. */
function takeSecrets<S>(config: convict.Config<S>): string[] {
  const settings: FileValues = { ...Object(config.getProperties()) };
  const problems: string[] = [];
  for (const one of secretFilesOf(settings)) {
    const { path, variable, holds } = one;
    if (settingIn(settings, path) !== '') {
      problems.push(`${path}: ${holds} and ${variable} are two ways to give the same secret; remove one of them`);
      continue;
    }
    try {
      const [group = '', name = ''] = path.split('.');
      config.load({ [group]: { [name]: readSecretFile(one) } });
    } catch (error) {
      problems.push(`${variable}: ${(error as Error).message} (${path})`);
    }
  }
  return problems;
}

/** Without the settings that only the other program reads: both can share one file. */
function withoutOthers(values: FileValues, own: Groups): object {
  const every: Groups = everySetting;
  const isOthers = (group: string, name: string) =>
    own[group]?.[name] === undefined && every[group]?.[name] !== undefined;
  const entries = Object.entries(values).flatMap(([group, members]) => {
    if (typeof members !== 'object' || members === null) return [[group, members]];
    const kept = Object.entries(members).filter(([name]) => !isOthers(group, name));
    return own[group] === undefined && every[group] !== undefined && kept.length === 0
      ? []
      : [[group, Object.fromEntries(kept)]];
  });
  return Object.fromEntries(entries);
}

/** The directory of the environments' files. */
export const configDirectory = join(home, 'config');

/** The file that was read, and which settings it changed. */
interface FileEffect {
  readonly path: string;
  /** Variables of the settings that would be different without the file. */
  readonly changed: readonly string[];
}

/** What the file has done to a program's settings, for the first line of the log; undefined when there is no file. */
export function fileEffect(env: NodeJS.ProcessEnv, directory: string, of: object): FileEffect | undefined {
  const variables = given(env);
  const path = settingsFileOf(variables, directory);
  if (path === undefined) return undefined;
  const values = readSettingsFile(path, []);
  const changed = settingDocs().filter((setting) => {
    const value = settingIn(values, setting.path);
    const isRead = settingIn({ ...of }, setting.path) !== undefined;
    return isRead && value !== undefined && variables[setting.env] === undefined && String(value) !== setting.default;
  });
  return { path, changed: changed.map(({ env }) => env) };
}

/** One setting for the documentation. */
export interface SettingDoc {
  readonly path: string;
  readonly env: string;
  readonly doc: string;
  readonly default: string;
  readonly secret: boolean;
  /** Of a setting that names a file with a secret: the variable of the secret (D396). */
  readonly holds?: string;
}

/** Every setting in the order of a schema; by default those of the service and the front door. */
export function settingDocs(of: convict.Schema<Groups> = everySetting): SettingDoc[] {
  return Object.entries(of).flatMap(([group, members]) =>
    Object.entries(members).map(([name, { doc, env, default: fallback, ...more }]) => ({
      path: `${group}.${name}`,
      env,
      doc,
      default: String(fallback),
      secret: 'sensitive' in more && more.sensitive && !/url/i.test(name),
      ...('holds' in more && { holds: String(more.holds) }),
    })),
  );
}

const secretPaths = () => settingDocs().flatMap(({ path, secret }) => (secret ? [path] : []));
const envOf = (path: string) => settingDocs().find((setting) => setting.path === path)?.env;

/**
 * Replaces convict's name of the setting with the environment variable.
 * @param holders by setting: variables that name the file that the value is from
 */
function named(problem: string, holders: ReadonlyMap<string, string>): string {
  const path = problem.split(':', 1)[0] ?? '';
  const env = holders.get(path) ?? envOf(path);
  return env === undefined
    ? problem
    : `${env}${problem.slice(path.length).replace(/: value was "\[Sensitive\]"$/, '')} (${path})`;
}
