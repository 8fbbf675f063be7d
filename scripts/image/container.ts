import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inherited } from '../../sandbox/service/process.ts';
import { type Image, isRoot } from './followDockerfile.ts';

const execute = promisify(execFile);

/** Stands in for a container: the image’s user in the image’s folder, where only the volumes can be written. */
export interface Container {
  /** Where programs start, in the real file system. */
  readonly directory: string;
  /** Whose rights they have. */
  readonly uid: number;
  /** In words. */
  readonly userName: string;
  /** To start a process as that user; absent when it is the one of this process. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** The real path of one in the image. */
  real(path: string): string;
  /** Runs a Node.js program of the image to its end, and resolves with its output. Rejects when it fails. */
  run(args: readonly string[], environment: Readonly<Record<string, string>>): Promise<string>;
}

/**
 * Takes everybody’s right to write from all of the image but its volumes, as `docker run --read-only` does.
 * @param signal ends programs that run
 */
export async function createContainer(
  { root, workdir, volumes, user: imageUser }: Image,
  signal: AbortSignal,
): Promise<Container> {
  const real = (path: string) => join(root, path);
  const directory = real(workdir);
  await execute('chmod', ['-R', 'a-w', root]);
  for (const volume of volumes) await chmod(real(volume), 0o755);
  const [uid = 0, gid = 0] = imageUser.split(':').map(Number);
  const own = process.getuid?.() ?? 0;
  const user = isRoot ? { uid, gid } : undefined;
  return {
    directory,
    uid: user ? uid : own,
    userName: user
      ? `user ${imageUser} in a tree that belongs to root`
      : `user ${own}, who also owns the tree (run this as root to take the image’s user, ${imageUser})`,
    ...(user && { user }),
    real,
    async run(args, environment) {
      const options = { cwd: directory, env: { ...inherited(), ...environment }, ...user, signal };
      return (await execute(process.execPath, args, options)).stdout;
    },
  };
}

/** Gives the owner the right to write again, or only root could remove the tree. */
export const unlock = (root: string) => execute('chmod', ['-R', 'u+w', root]);
