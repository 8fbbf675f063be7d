import { existsSync, readFileSync } from 'node:fs';

/** What a file of settings holds, by group and name. */
export type FileValues = Readonly<Record<string, unknown>>;

/**
 * The file that a program reads: `CONFIG_FILE`, or that of the environment, which is production unless `NODE_ENV` names
 * another one, so that what is left out opens no debug log. Undefined when there is none.
 * @param given variables that are not empty
 * @param directory holds the files of the environments
 */
export function settingsFileOf(given: NodeJS.ProcessEnv, directory: string): string | undefined {
  const { CONFIG_FILE: chosen, NODE_ENV: environment = 'production' } = given;
  if (chosen !== undefined) return chosen;
  const file = `${directory}/${environment}.json`;
  return existsSync(file) ? file : undefined;
}

export function readSettingsFile(file: string, problems: string[]): FileValues {
  try {
    const values: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof values === 'object' && values !== null && !Array.isArray(values)) return { ...values };
    problems.push(`${file} must hold a JSON object`);
  } catch (error) {
    problems.push(
      `${file} cannot be read as JSON: ${error instanceof SyntaxError ? 'not well-formed' : (error as Error).message}`,
    );
  }
  return {};
}

/** @param path `group.name` */
export function settingIn(values: FileValues, path: string): unknown {
  const [group = '', name = ''] = path.split('.');
  const members = values[group];
  return typeof members === 'object' && members !== null && Object.hasOwn(members, name)
    ? Reflect.get(members, name)
    : undefined;
}
