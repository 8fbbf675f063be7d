import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import {
  inherited,
  type ServiceProcess,
  type ServiceProcessOptions,
  startService,
} from '../../sandbox/service/process.ts';
import { type Image, isRoot } from './followDockerfile.ts';

const execute = promisify(execFile);

/** What `docker run --volume` mounts besides the image's own volumes. */
export type Mount = Readonly<{ from: string; to: string; writable?: boolean }>;

/** What a base image brings, besides Node.js: libraries, certificates, names. None of its programs is needed. */
const baseFiles = ['/lib', '/lib64', '/usr/lib', '/etc/ssl', '/etc/hosts', '/etc/nsswitch.conf', '/etc/resolv.conf'];

/**
 * Runs programs of an image as an engine does: its files read-only, its user, no capabilities, nothing else in sight.
 * @param node Node.js of the base image
 * @param signal kills the programs that run
 * @param network the words that run a command in another network, as root; default in that of this process
 */
export function createContainer(
  image: Image,
  node: string,
  mounts: readonly Mount[],
  signal: AbortSignal,
  network?: readonly string[],
) {
  /** The real path of one in the image. */
  const real = (path: string) => join(image.root, path);
  const [uid = '', gid = ''] = image.user.split(':');
  const entered = network ? [...network, '--setuid', uid, '--setgid', gid] : [];
  const user = isRoot && !network ? { uid: Number(uid), gid: Number(gid) } : undefined;
  const bind = ({ from, to, writable }: Mount) => [writable ? '--bind' : '--ro-bind', from, to];
  const sandbox = [
    ...['--unshare-user', '--uid', uid, '--gid', gid, '--unshare-ipc', '--unshare-uts'],
    ...['--cap-drop', 'ALL', '--die-with-parent'],
    ...baseFiles.flatMap((path) => ['--ro-bind-try', path, path]),
    ...bind({ from: node, to: '/usr/local/bin/node' }),
    ...bind({ from: real(image.workdir), to: image.workdir }),
    ...image.volumes.flatMap((path) => bind({ from: real(path), to: path, writable: true })),
    ...mounts.flatMap(bind),
    ...['--proc', '/proc', '--dev', '/dev', '--remount-ro', '/'],
    ...['--setenv', 'PATH', '/usr/local/bin', '--chdir', image.workdir],
  ];
  /** The words that run a command so. */
  const isolated = (words: readonly string[]) => [...entered, 'bwrap', ...sandbox, '--', ...words];
  return {
    /** Starts a command of the image, and waits until it is ready. Rejects when it ends before. */
    async start(
      command: readonly string[],
      options: Pick<ServiceProcessOptions, 'name' | 'environment' | 'readyzUrl' | 'logFile'>,
    ) {
      const readyWithinMs = Number.POSITIVE_INFINITY;
      const started = { ...options, command: isolated(command), ...(user && { user }), readyWithinMs, signal };
      const wrapper = await startService(started);
      signal.addEventListener('abort', wrapper.kill);
      return stoppable(wrapper);
    },
    /** Whose rights a command needs; absent when it is the one of this process. */
    ...(user && { user }),
    ...{ isolated, real },
    /** Runs a Node.js program of the image to its end, and resolves with its output. Rejects when it fails. */
    async run(args: readonly string[], environment: Readonly<Record<string, string>>) {
      const [program = '', ...words] = isolated(['node', ...args]);
      return (await execute(program, words, { env: { ...inherited(), ...environment }, ...user, signal })).stdout;
    },
  };
}

export type Container = ReturnType<typeof createContainer>;

/** The program that `bwrap` runs. */
export const childOf = async (pid: number): Promise<number> =>
  Number(await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'));

/** `bwrap` watches the program, whose end is its own, but passes no signal on. */
async function stoppable(wrapper: ServiceProcess): Promise<ServiceProcess> {
  const pid = await childOf(wrapper.pid);
  return {
    ...wrapper,
    pid,
    async stop() {
      try {
        process.kill(pid, 'SIGTERM');
      } catch {
        // It has ended by itself: `exited` says how.
      }
      await wrapper.exited;
    },
  };
}

/** @throws Error that says how to install what is missing */
export async function requireContainers(): Promise<void> {
  await execute('bwrap', ['--version']).catch((error) => {
    throw new Error('bubblewrap, which stands in for a container engine, is missing: apt-get install bubblewrap', {
      cause: error,
    });
  });
}
