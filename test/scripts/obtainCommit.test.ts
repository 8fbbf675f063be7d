import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { obtainCommit } from '../../scripts/mixedVersions/obtainCommit.ts';

const directory = folderForEach('commits');
const origin = join(directory, 'origin');
let first: string;
beforeEach(() => {
  git('.', 'init', '--quiet', origin);
  first = commit();
  commit();
});

function git(at: string, ...args: string[]): string {
  const identity = { GIT_AUTHOR_NAME: 'n', GIT_AUTHOR_EMAIL: 'e', GIT_COMMITTER_NAME: 'n', GIT_COMMITTER_EMAIL: 'e' };
  const env = { PATH: process.env['PATH'], HOME: directory, ...identity };
  return execFileSync('git', args, { cwd: join(directory, at), env, encoding: 'utf8', stdio: 'pipe' }).trim();
}

function commit(): string {
  git('origin', 'commit', '--quiet', '--allow-empty', '--message', 'm');
  return git('origin', 'rev-parse', 'HEAD');
}

function shallow(): string {
  git('.', 'clone', '--quiet', '--depth', '1', `file://${origin}`, 'clone');
  return join(directory, 'clone');
}

it('a shallow clone is deepened', async () => {
  const clone = shallow();
  expect(() => git('clone', 'cat-file', '-e', first)).toThrow();
  await obtainCommit(clone, first);
  git('clone', 'cat-file', '-e', first);
});

it('a commit that is there is taken without the origin', async () => {
  const clone = shallow();
  const newest = git('origin', 'rev-parse', 'HEAD');
  rmSync(origin, { recursive: true });
  await obtainCommit(clone, newest);
});

it.each([
  [
    'without its origin',
    () => rmSync(origin, { recursive: true }),
    () => first,
    'cannot be had: this clone is shallow',
  ],
  ['of another history', () => {}, () => '0123456789012345678901234567890123456789', 'cannot be had'],
])('a commit that cannot be had %s fails', async (_, spoil, wanted, why) => {
  const clone = shallow();
  spoil();
  await expect(obtainCommit(clone, wanted())).rejects.toThrow(`the commit ${wanted()} of .ci/releases ${why}`);
});

it('what is no commit is refused', () => expect(obtainCommit(origin, 'main; true')).rejects.toThrow(/is no commit/));
