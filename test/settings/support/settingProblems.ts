import { ConfigurationError, readSettings } from '../../../src/settings/config.ts';

type Read = (env: NodeJS.ProcessEnv, directory: string) => unknown;

/** What the service says of this environment when it refuses to start; nothing when it would start. */
export function settingProblems(
  env: NodeJS.ProcessEnv,
  directory: string,
  read: Read = readSettings,
): readonly string[] {
  try {
    read(env, directory);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}
