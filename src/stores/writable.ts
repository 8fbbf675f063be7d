import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const mebibyte = 1024 * 1024;

/** Enough for the largest checkpoints of 32 partitions, twice because files are replaced, and some dead letters. */
const leastFreeBytes = 64 * mebibyte;

/**
 * Creates folders, and checks that they can be read and written and have free space.
 * @returns one sentence for each problem: the folder, the cause and the remedy
 */
export function unusableDirectories(directories: readonly string[], leastBytes = leastFreeBytes): string[] {
  const disks = new Set<number>();
  const problems = directories.flatMap((directory) => {
    const path = resolve(directory);
    try {
      tryOut(path);
    } catch (error) {
      return [refusal(path, error as NodeJS.ErrnoException)];
    }
    const { dev } = statSync(path);
    const free = freeBytes(path);
    if (disks.has(dev) || free >= leastBytes) return [];
    disks.add(dev);
    return [`${path} has ${megabytes(free)} free, and ${megabytes(leastBytes)} are needed: ${room}`];
  });
  return [...new Set(problems)];
}

function tryOut(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  readdirSync(path);
  const trial = join(path, `trial-${randomUUID()}`);
  try {
    writeFileSync(trial, 'can be written\n', { mode: 0o600, flush: true });
  } finally {
    rmSync(trial, { force: true });
  }
}

const room = 'make room there, or take a larger volume';
const megabytes = (bytes: number): string => `${Math.floor(bytes / mebibyte)} MB`;

/** Space for a user without privileges. Some network file systems report 0 blocks: their space is unknown, and assumed to suffice. */
function freeBytes(path: string): number {
  const { blocks, bavail, bsize } = statfsSync(path);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}

function refusal(path: string, { code = '', message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return notPermitted(lastExisting(path), code);
    case 'EROFS':
      return `${path} cannot be written (${code}): its file system is read-only; mount a volume, and set DATA_DIRECTORY to its path`;
    case 'EEXIST':
    case 'ENOTDIR':
      return `${path} cannot be used (${code}): a part of its path is a file; set DATA_DIRECTORY to a folder`;
    case 'ENOENT':
      return `${path} cannot be made (${code}): no folder can be made in ${lastExisting(path)}, for example because its file system is read-only; mount a volume, and set DATA_DIRECTORY to its path`;
    case 'ENOSPC':
    case 'EDQUOT':
      return `${path} cannot be written (${code}): its disk is full; ${room}`;
    default:
      return `${path} cannot be used: ${message}`;
  }
}

/** @param folder without permission */
function notPermitted(folder: string, code: string): string {
  const { uid, gid, mode } = statSync(folder);
  const permissions = (mode & 0o7777).toString(8).padStart(4, '0');
  return (
    `${folder} cannot be used by user ${process.geteuid?.()}, group ${process.getegid?.()} (${code}): it belongs to user ${uid}, ` +
    `group ${gid}, with permissions ${permissions}; give it to the user that the service runs as, or set DATA_DIRECTORY to a folder that this user can write`
  );
}

const lastExisting = (path: string): string => (existsSync(path) ? path : lastExisting(dirname(path)));
