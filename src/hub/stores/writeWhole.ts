import { open } from 'node:fs/promises';

/** Writes a file that only its owner can read; resolves when it is on the disk. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
