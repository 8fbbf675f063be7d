import type { Dir } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

interface Usage {
  readonly bytes: number;
  /** Files, folders and other entries. */
  readonly files: number;
}

/** Of a folder in a folder: it is gone, or it does not let the proxy look into it, as the `lost+found` of a volume. */
const passedOver = ['ENOENT', 'ENOTDIR', 'EACCES'];

/**
 * What is in a folder and in those below it. Follows no links. Stops when there is more than can be allowed: a module can
 * fill its folder with any number of files.
 * @param isOwn names in the folder itself that do not count
 * @throws Error of the file system
 */
export async function usageOf(folder: string, mostFiles: number, isOwn: (name: string) => boolean): Promise<Usage> {
  let [bytes, files] = [0, 0];
  const waiting: string[] = [];

  async function count(dir: Dir, isCounted: (name: string) => boolean) {
    for await (const { name } of dir) {
      if (!isCounted(name)) continue;
      files += 1;
      if (files > mostFiles) return; // sizes no longer matter
      const path = join(dir.path, name);
      const found = await lstat(path).catch(() => undefined); // the module may just have removed it
      if (found?.isDirectory()) waiting.push(path);
      else if (found?.isFile()) bytes += found.size;
    }
  }

  await count(await opendir(folder), (name) => !isOwn(name));
  for (let path = waiting.pop(); path !== undefined && files <= mostFiles; path = waiting.pop()) {
    const dir = await opendir(path).catch((error: NodeJS.ErrnoException) => {
      if (passedOver.includes(error.code ?? '')) return undefined;
      throw error;
    });
    if (dir) await count(dir, () => true);
  }
  return { bytes, files };
}
