import { ConfigurationError, readSettings } from '../../../src/settings/config.ts';

/** What the service says of this environment when it refuses to start; nothing when it would start. */
export function settingProblems(env: NodeJS.ProcessEnv, directory: string): readonly string[] {
  try {
    readSettings(env, directory);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}
