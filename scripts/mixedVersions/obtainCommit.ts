import { promisify } from 'node:util';
import { execFile } from '../../sandbox/service/endWithUs.ts';

/**
 * Sees to it that a commit is in a clone, which may be shallow: then it is deepened.
 * @throws Error when the commit cannot be had
 */
export async function obtainCommit(clone: string, commit: string): Promise<void> {
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new Error(`${JSON.stringify(commit)} is no commit: 40 hexadecimal digits`);
  const git = async (...args: string[]) => (await promisify(execFile)('git', args, { cwd: clone })).stdout.trim();
  const isThere = () =>
    git('cat-file', '-e', `${commit}^{commit}`).then(
      () => true,
      () => false,
    );
  if (await isThere()) return;
  let why = '';
  if ((await git('rev-parse', '--is-shallow-repository')) === 'true') {
    await git('fetch', '--quiet', '--unshallow').catch((error: Error) => {
      why = `: this clone is shallow, and has nothing to be deepened from. ${error.message.trim()}`;
    });
  }
  if (!(await isThere())) throw new Error(`the commit ${commit} of .ci/releases cannot be had${why}`);
}
