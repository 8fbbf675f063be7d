import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Of what the project adds to the base image. */
const maxBytes = 15_000_000;

/**
 * Proves that an image has what runs and its licences, and nothing else. Resolves with its size in bytes.
 * @param directory the image's working directory, in the real file system
 * @param allowed its files, and folders with all that is below
 */
export async function proveLayers(directory: string, allowed: readonly string[]): Promise<number> {
  const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const paths = files.map((file) => join(file.parentPath, file.name).slice(directory.length + 1));
  const isOf = (name: string) => (path: string) => path === name || path.startsWith(`${name}/`);
  const strangers = paths.filter((path) => !allowed.some((name) => isOf(name)(path)));
  if (strangers.length > 0) throw new Error(`The image has what nobody runs: ${strangers.join(', ')}`);
  const missing = allowed.filter((name) => !paths.some(isOf(name)));
  if (missing.length > 0) throw new Error(`The image lacks ${missing.join(', ')}`);
  const sizes = await Promise.all(paths.map(async (path) => (await stat(join(directory, path))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > maxBytes) throw new Error(`The image adds ${bytes} bytes to its base, ${maxBytes} are allowed`);
  return bytes;
}
