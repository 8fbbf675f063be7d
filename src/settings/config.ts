import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearest } from '@device-messaging/telemetry/text.ts';
import convict from 'convict';
import { methodsDisagreements, settingDisagreements } from './agreements.ts';
import { home } from './derived.ts';
import { readSecretFile, type SecretFile, secretFilesOf } from './secrets.ts';
import type { Groups, MethodsSettings, Settings } from './table.ts';
import { everySetting, methodsSchema, schema, settingDocs, settingIn } from './table.ts';

export { type MethodsSettings, type Settings, settingDocs } from './table.ts';

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
 * Reads the settings of the service: defaults, then the file of the environment, then variables, of which an empty one counts as not set.
 * Secrets come from variables, or from the files that the settings with `File` name (D396).
 * @param directory holds the files of the environments
 * @throws ConfigurationError with all problems
 */
export const readSettings = (env: NodeJS.ProcessEnv, directory: string): Settings =>
  loaded(schema, env, directory, settingDisagreements);

/** The same for the front door, which reads only the settings that it uses (M1). */
export const readMethodsSettings = (env: NodeJS.ProcessEnv, directory: string): MethodsSettings =>
  loaded(methodsSchema, env, directory, methodsDisagreements);

/** For commands that ask the admin port. */
export const readAdminSettings = (env: NodeJS.ProcessEnv, directory: string): Settings['admin'] =>
  loaded({ admin: schema.admin }, env, directory, () => []).admin;

const inQuotes = /^(["'])(.*)\1$/s;

/** What is set, as if it were without quotes, which a shell takes away and `docker run --env-file` passes: they are refused for that alone. */
function given(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const set = Object.entries(withLowerCase(env)).filter(([, value]) => value);
  return Object.fromEntries(set.map(([name, value = '']) => [name, inQuotes.exec(value)?.[2] ?? value]));
}

const conventional = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'] as const;

/** Programs read these variables in lower case, too. */
const withLowerCase = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...env,
  ...Object.fromEntries(conventional.map((name) => [name, env[name] || env[name.toLowerCase()]])),
});

function loaded<S>(
  own: convict.Schema<S> & Groups,
  env: NodeJS.ProcessEnv,
  directory: string,
  disagree: (settings: S) => string[],
): S {
  const problems: string[] = [];
  const config = convict<S>(own, { env: given(env), args: [] });
  const file = settingsFileOf(given(env), directory);
  if (file !== undefined) {
    const values = readSettingsFile(file, problems);
    for (const { path, env, secret } of settingDocs()) {
      if (secret && settingIn(values, path) !== undefined)
        problems.push(`${path} is a secret: set ${env} or ${env}_FILE, and remove it from ${file}`);
    }
    if (problems.length === 0) config.load(withoutOthers(values, own));
  }
  for (const variable of ['NODE_ENV', 'CONFIG_FILE', ...settingDocs(own).map(({ env }) => env)]) {
    if (inQuotes.test(env[variable] ?? ''))
      problems.push(`${variable}: the quotes around its value are part of it: remove them`);
  }
  const unusable = takeSecrets(config);
  problems.push(...unusable);
  try {
    config.validate({ allowed: 'strict' });
  } catch (error) {
    const files = secretFilesOf(Object(config.getProperties()));
    problems.push(...(error as Error).message.split('\n').map((problem) => named(problem, files)));
  }
  const settings = config.getProperties();
  if (unusable.length === 0) problems.push(...disagree(settings));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return settings;
}

/**
 * `CONFIG_FILE`, or the file of the environment, which is production unless `NODE_ENV` names another one, so that what is left out opens no
 * debug log. Undefined when there is none. @param variables that are not empty
 */
function settingsFileOf(variables: NodeJS.ProcessEnv, directory: string): string | undefined {
  const { CONFIG_FILE: chosen, NODE_ENV: environment = 'production' } = variables;
  if (chosen !== undefined) return chosen;
  const file = `${directory}/${environment}.json`;
  return existsSync(file) ? file : undefined;
}

function readSettingsFile(file: string, problems: string[]): Readonly<Record<string, unknown>> {
  try {
    const values: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof values === 'object' && values !== null && !Array.isArray(values)) return { ...values };
    problems.push(`${file} must hold a JSON object`);
  } catch (error) {
    const why = error instanceof SyntaxError ? 'not well-formed' : (error as Error).message;
    problems.push(`${file} cannot be read as JSON: ${why}`);
  }
  return {};
}

/** Puts the secrets that are in files in their places (D396). Returns one sentence for each that cannot be used. */
function takeSecrets<S>(config: convict.Config<S>): string[] {
  const settings: object = { ...Object(config.getProperties()) };
  return secretFilesOf(settings).flatMap((one) => {
    const { path, variable, holds } = one;
    if (settingIn(settings, path) !== '')
      return [`${path}: ${holds} and ${variable} are two ways to give the same secret; remove one of them`];
    try {
      config.set(path as never, readSecretFile(one) as never);
      return [];
    } catch (error) {
      return [`${variable}: ${(error as Error).message} (${path})`];
    }
  });
}

/** Without the settings that only the other program reads: both can share one file. */
function withoutOthers(values: object, own: Groups): object {
  const every: Groups = everySetting;
  const entries = Object.entries(values).flatMap(([group, members]) => {
    if (typeof members !== 'object' || members === null) return [[group, members]];
    const isOthers = (name: string) => own[group]?.[name] === undefined && every[group]?.[name] !== undefined;
    const kept = Object.entries(members).filter(([name]) => !isOthers(name));
    const isOthersGroup = own[group] === undefined && every[group] !== undefined;
    return isOthersGroup && kept.length === 0 ? [] : [[group, Object.fromEntries(kept)]];
  });
  return Object.fromEntries(entries);
}

/** Replaces convict's name of the setting with the environment variable: with that of the file, if the value is from one. */
function named(problem: string, files: readonly SecretFile[]): string {
  const path = problem.split(':', 1)[0] ?? '';
  const file = files.find((one) => one.path === path);
  const env = file?.variable ?? settingDocs().find((setting) => setting.path === path)?.env;
  return env === undefined
    ? problem
    : `${env}${problem.slice(path.length).replace(/: value was "\[Sensitive\]"$/, '')} (${path})`;
}

export const configDirectory = join(home, 'config');

/** For the first line of the log: the file of settings, if there is one, and the variables of those that would be different without it. */
export function fileEffect(env: NodeJS.ProcessEnv, directory: string, of: object) {
  const variables = given(env);
  const path = settingsFileOf(variables, directory);
  if (path === undefined) return undefined;
  const values = readSettingsFile(path, []);
  const changed = settingDocs().filter((setting) => {
    const value = settingIn(values, setting.path);
    const isRead = settingIn(of, setting.path) !== undefined;
    return isRead && value !== undefined && variables[setting.env] === undefined && String(value) !== setting.default;
  });
  return { path, changed: changed.map(({ env }) => env) };
}

/** Each setting’s variable begins with one of these, but for `STORE` and `IDENTITY` alone, and those of proxies. */
export const prefixes: readonly string[] = [
  ...['IDENTITY_', 'HUB_', 'NETWORK_', 'INFORMATION_MODEL_', 'TYPE_REGISTRY_', 'PRINCIPAL_MANAGER_', 'BACKENDS_'],
  ...['REPLIES_', 'DELIVERY_', 'DATA_', 'STORE_', 'CHECKPOINTS_', 'DEAD_LETTERS_'],
  ...['HTTP_', 'ADMIN_', 'LOG_', 'METHODS_'],
];

/** Variables of others with these prefixes: of an app's managed identity, and of Kubernetes for a service with the name `hub` or `http`. */
const isOfOthers = (variable: string, value: string): boolean =>
  /^IDENTITY_(ENDPOINT|HEADER|API_VERSION|SERVER_THUMBPRINT)$/.test(variable) ||
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$/.test(variable) ||
  /^(tcp|udp|sctp):\/\//.test(value);

/** Variables that look like a setting but are none, and those that only other programs take for a proxy; their values can have a password. */
export function strayVariables(env: NodeJS.ProcessEnv) {
  const settings = settingDocs().map((setting) => setting.env);
  const unknown = Object.entries(env).filter(
    ([name, value = '']) =>
      value !== '' &&
      !settings.includes(name) &&
      prefixes.some((one) => name.startsWith(one)) &&
      !isOfOthers(name, value),
  );
  const proxies = ['ALL_PROXY', 'all_proxy'].filter((variable) => env[variable]);
  return [
    ...unknown.map(([variable]) => ({ variable, hint: `the nearest name is ${nearest(variable, settings)}` })),
    ...proxies.map((variable) => ({ variable, hint: 'set HTTPS_PROXY, HTTP_PROXY, NO_PROXY' })),
  ];
}

/**
 * Reads a file of variables as `docker run --env-file` does: everything behind the first `=` is the value. What looks like a comment there is
 * refused. @returns problems: one sentence for each, without values, which may be secrets
 */
export function readEnvFile(text: string) {
  const variables: Record<string, string> = {};
  const problems: string[] = [];
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  for (const [index, whole] of lines.entries()) {
    const line = whole.trimStart();
    const at = line.indexOf('=');
    if (line.startsWith('#') || at === -1) continue;
    const [name, value] = [line.slice(0, at), line.slice(at + 1)];
    const where = `line ${index + 1}: ${name}`;
    if (name === '' || /\s/.test(name)) problems.push(`${where}: must be NAME=value, without “export” and spaces`);
    else if (/\s#/.test(value))
      problems.push(`${where}: the comment behind its value would be part of it: give it a line of its own`);
    else variables[name] = value;
  }
  return { variables, problems };
}
