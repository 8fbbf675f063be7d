import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { home } from '../settings/derived.ts';

/** Which build runs, for the first line of the log. */
interface Build {
  readonly version: string;
  /** The commit that was named when the image was built. */
  readonly build: string;
  readonly node: string;
}

/**
 * `service.version` of metrics and spans: builds of one version are told apart by their commit, written as semantic
 * versions have it.
 */
export function versionOfBuild(env: NodeJS.ProcessEnv): string {
  const { version, build } = thisBuild(env);
  return build === 'unknown' ? version : `${version}+${build}`;
}

export function thisBuild(env: NodeJS.ProcessEnv): Build {
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  return { version, build: env['BUILD_COMMIT'] || 'unknown', node: process.version };
}
