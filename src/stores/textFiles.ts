import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';

/** The service has not written what is stored under this name; it was not read whole. */
export class ForeignFile extends Error {
  override readonly name = 'ForeignFile';
}

/**
 * The text of a file, unless it is longer than any of ours, or no file: a pipe would be waited for without end.
 * @throws ForeignFile, or the error of the file system
 */
export function readBounded(path: string, mostBytes: number): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    if (!found.isFile()) throw new ForeignFile(`${path} is no file`);
    if (found.size > mostBytes)
      throw new ForeignFile(`${path} has ${found.size} bytes, over the ${mostBytes} that it may have`);
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

/** Replaces a file as a whole, by a draft in the same folder. Only the owner can read it; resolves when it is on the disk. */
export async function replaceFile(path: string, draft: string, text: string): Promise<void> {
  await writeFile(draft, text, { mode: 0o600, flush: true });
  await rename(draft, path);
}

export const makeFolder = (path: string): void => void mkdirSync(path, { recursive: true, mode: 0o700 });

/**
 * Passes an error on. A folder that has gone is made again for the next attempt: the log is to tell of it first, because what was
 * in it is lost.
 */
export const makingAgain = (folder: string) => (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') makeFolder(folder);
  throw error;
};

/** Undefined when the text is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
