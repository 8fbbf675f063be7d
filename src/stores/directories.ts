import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Settings } from '../settings/table.ts';

/** The folders of the data directory. A volume can be mounted at any of them. */
export const directoriesOf = ({ directory }: Settings['data']) => ({
  checkpoints: join(directory, 'checkpoints'),
  deadLetters: join(directory, 'dead-letters'),
});

export const usedDirectories = ({ data, store }: Pick<Settings, 'data' | 'store'>): string[] =>
  store.kind === 'file' ? Object.values(directoriesOf(data)) : [];

const mebibyte = 1024 * 1024;
/** Enough for the largest checkpoints of 32 partitions, twice because files are replaced, and some dead letters. */
const leastFreeBytes = 64 * mebibyte;

/** Creates folders, and checks that they can be read and written and have free space: a sentence for each problem, with cause and remedy. */
export function unusableDirectories(directories: readonly string[], leastBytes = leastFreeBytes): string[] {
  const disks = new Set<number>();
  const problems = directories.flatMap((directory) => {
    const path = resolve(directory);
    try {
      tryOut(path);
    } catch (error) {
      return [refusal(path, error as NodeJS.ErrnoException)];
    }
    const { dev } = fs.statSync(path);
    const { blocks, bavail, bsize } = fs.statfsSync(path); // `bavail`: for a user without privileges
    const free = bavail * bsize;
    // Some network file systems report 0 blocks: their space is unknown, and assumed to suffice.
    if (disks.has(dev) || blocks === 0 || free >= leastBytes) return [];
    disks.add(dev);
    return [`${path} has ${megabytes(free)} free, and ${megabytes(leastBytes)} are needed: ${room}`];
  });
  return [...new Set(problems)];
}

function tryOut(path: string): void {
  makeFolder(path);
  fs.readdirSync(path);
  const trial = join(path, `trial-${randomUUID()}`);
  try {
    fs.writeFileSync(trial, 'can be written\n', { mode: 0o600, flush: true });
  } finally {
    fs.rmSync(trial, { force: true });
  }
}

const room = 'make room there, or take a larger volume';
const megabytes = (bytes: number): string => `${Math.floor(bytes / mebibyte)} MB`;

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

function notPermitted(folder: string, code: string): string {
  const { uid, gid, mode } = fs.statSync(folder);
  const permissions = (mode & 0o7777).toString(8).padStart(4, '0');
  return (
    `${folder} cannot be used by user ${process.geteuid?.()}, group ${process.getegid?.()} (${code}): it belongs to user ${uid}, ` +
    `group ${gid}, with permissions ${permissions}; give it to the user that the service runs as, or set DATA_DIRECTORY to a folder that this user can write`
  );
}

const lastExisting = (path: string): string => (fs.existsSync(path) ? path : lastExisting(dirname(path)));

/** The text of a file; undefined when there is none. @param refused for one that is too long, or no file: a pipe would have no end */
export function readBounded(path: string, mostBytes: number, refused: (problem: string) => Error): string | undefined {
  let file: number | undefined;
  try {
    file = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    const found = fs.fstatSync(file);
    if (!found.isFile()) throw refused(`${path} is no file`);
    if (found.size > mostBytes)
      throw refused(`${path} has ${found.size} bytes, over the ${mostBytes} that it may have`);
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    return unlessMissing(error as NodeJS.ErrnoException);
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

export function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}

/** Replaces a file as a whole, by a draft in the same folder. Only the owner can read it; resolves when it is on the disk. */
export async function replaceFile(path: string, draft: string, text: string): Promise<void> {
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, path);
}

export const makeFolder = (path: string): void => void fs.mkdirSync(path, { recursive: true, mode: 0o700 });

/** Passes an error on. A folder that has gone is made again for the next attempt, after the log has told of it: what was in it is lost. */
export const makingAgain = (folder: string) => (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') makeFolder(folder);
  throw error;
};
