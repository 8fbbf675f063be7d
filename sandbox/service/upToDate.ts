import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { projectDirectory } from '../state/directories.ts';

/** The file that a build writes last, and the sources that it reads: files, and folders with everything in them. */
const builds = [
  {
    mark: 'dist/main.js',
    sources: ['src', 'scripts/build.js', 'scripts/run/sourceMap.js', 'tsconfig.json', 'tsconfig.build.json'],
  },
  { mark: 'edge/dist/.tsbuildinfo', sources: ['edge/src', 'edge/tsconfig.json', 'tsconfig.json'] },
];

/**
 * Whether service and edge proxy are built and nothing has been written since. It takes milliseconds, and the compiler takes
 * seconds to find the same. A folder counts as well: its time changes when a file is added or removed.
 */
export async function isUpToDate(directory = projectDirectory): Promise<boolean> {
  const all = await Promise.all(
    builds.map(async ({ mark, sources }) => {
      const built = await timeOf(join(directory, mark)).catch(() => 0);
      return (await newest(sources.map((source) => join(directory, source)))) < built;
    }),
  );
  return all.every(Boolean);
}

const timeOf = async (path: string): Promise<number> => (await stat(path)).mtimeMs;

async function newest(paths: readonly string[]): Promise<number> {
  const times = paths.map(async (path) => {
    const found = await stat(path);
    const within = found.isDirectory() ? await readdir(path) : [];
    return Math.max(found.mtimeMs, await newest(within.map((name) => join(path, name))));
  });
  return Math.max(0, ...(await Promise.all(times)));
}
