import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder, with those above it that are missing. Not with the `recursive` of `mkdir`, which does not end on every
 * file system.
 * @throws Error of the file system, also when the path is no folder
 */
export function makeDirectory(path: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const one of missing) makeOne(one, mode);
  if (missing.length === 0) checkDirectory(path);
}

/** @throws Error `ENOTDIR` */
const checkDirectory = (path: string) => statSync(`${path}/.`);

/** Another process may be faster. */
function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    checkDirectory(path);
  }
}
