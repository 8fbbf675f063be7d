import { mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a file that only its owner can read; resolves when it is on the disk. A folder that has gone is made again for the
 * next attempt: the log is to tell of it first, because what was in it is lost.
 */
export async function writeWhole(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    throw error;
  });
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
