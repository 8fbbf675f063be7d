import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Another hub uses the directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

/**
 * Take a directory for this process, so that no two hubs write the same files. The lock of a process that is gone does
 * not count. Throws `DirectoryInUse`. The answer gives it back.
 */
export function lockDirectory(directory: string): () => void {
  const file = join(directory, 'lock');
  const owner = ownerOf(file);
  if (owner !== undefined && owner !== process.pid && isRunning(owner))
    throw new DirectoryInUse(`A hub keeps its data in ${directory} already: process ${owner}, says ${file}.`);
  writeFileSync(file, String(process.pid), { mode: 0o600 });
  return () => rmSync(file, { force: true });
}

function ownerOf(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
