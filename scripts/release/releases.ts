import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A version that was released, and the commit it was made of. */
export type Release = Readonly<{ version: string; commit: string }>;

/** The list of what has been released, the first one first: `.ci/releases` has a line for each, as `1.0.0 <commit>`. */
export const releasesFile = '.ci/releases';

export const releasesIn = (project: string): readonly Release[] =>
  parseReleases(readFileSync(join(project, releasesFile), 'utf8'));

/** @throws Error when a line is wrong, or versions do not rise */
export function parseReleases(text: string): readonly Release[] {
  const releases = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Release => {
      const [, version = '', commit = ''] = /^(\d+\.\d+\.\d+) ([0-9a-f]{40})$/.exec(line) ?? [];
      if (commit === '')
        throw new Error(`${releasesFile}: ${JSON.stringify(line)} is not as “1.0.0 <40 digits of the commit>”`);
      return { version, commit };
    });
  for (const [index, { version }] of releases.entries()) {
    const before = releases[index - 1];
    if (before && !isAbove(version, before.version))
      throw new Error(`${releasesFile}: ${version} is not above ${before.version}`);
  }
  return releases;
}

/** @throws Error when nothing has been released */
export function lastRelease(releases: readonly Release[]): Release {
  const last = releases.at(-1);
  if (last === undefined) throw new Error(`${releasesFile} has no release`);
  return last;
}

/** What the list says against a version, in sentences. */
export function alreadyReleased(version: string, releases: readonly Release[]): readonly string[] {
  const same = releases.find((one) => one.version === version);
  if (same) return [`${version} has been released, as commit ${same.commit} (${releasesFile}).`];
  const last = releases.at(-1);
  return last && !isAbove(version, last.version)
    ? [`${version} is below ${last.version}, which has been released (${releasesFile}).`]
    : [];
}

const isAbove = (one: string, other: string) => one.localeCompare(other, 'en', { numeric: true }) > 0;
