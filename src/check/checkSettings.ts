import { type Finding, failure, ok, warning } from 'telemetry/check/finding.ts';
import {
  ConfigurationError,
  configDirectory,
  fileEffect,
  proxyVariables,
  settingDocs,
  unknownVariables,
} from '../settings/config.ts';

/** The settings of a program; undefined when they are wrong, so that nothing else can be looked at. */
export interface ReadSettings<S> {
  readonly settings: S | undefined;
  readonly findings: readonly Finding[];
}

const what = 'settings';
const list = 'docs/settings.md and .env.example list every setting';

/** Reads the settings as the program does, and finds all that is wrong with them. */
export function checkSettings<S extends object>(read: () => S, env: NodeJS.ProcessEnv): ReadSettings<S> {
  const doubts = [
    ...unknownVariables(
      env,
      settingDocs().map((setting) => setting.env),
    ),
    ...proxyVariables(env),
  ].map(({ variable, hint }) => warning('variables', `${variable} is no setting`, hint));
  try {
    const settings = read();
    const file = fileEffect(env, configDirectory, settings);
    const source = file === undefined ? 'from the environment' : `from the environment and ${file.path}`;
    return { settings, findings: [ok(what, `all valid, ${source}`), ...doubts] };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return {
      settings: undefined,
      findings: [...error.problems.map((problem) => failure(what, problem, list)), ...doubts],
    };
  }
}
