import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { projectDirectory } from '../state/directories.ts';

/** What a build makes. It writes the last of them whenever it has run, even when nothing has changed. */
const programs = ['edge/dist/main.js', 'page/dist/page.js', 'dist/main.js'];
/** Files, and folders with everything in them. */
const sources = [
  ...[
    'src',
    'backend-kit',
    'scripts/build.js',
    'scripts/build',
    'scripts/run/sourceMap.js',
    'scripts/run/nodeVersion.js',
    'tsconfig.json',
    'tsconfig.build.json',
  ],
  ...['edge/src', 'edge/tsconfig.json', 'telemetry', 'package.json', 'edge/package.json', 'LICENSE'],
  ...['page/src', 'page/server', 'page/index.html', 'page/style.css', 'page/icon.svg'],
  // Of the packages, which are part of the build: npm writes it whenever it has changed them.
  'node_modules/.package-lock.json',
];

/**
 * Whether service and edge proxy are built and nothing has been written since. It takes milliseconds, and the compiler takes
 * seconds to find the same. A folder counts as well: its time changes when a file is added or removed.
 */
export async function isUpToDate(directory = projectDirectory): Promise<boolean> {
  const within = (path: string) => join(directory, path);
  const times = await Promise.all(programs.map((path) => timeOf(within(path)).catch(() => 0)));
  return times.every((time) => time > 0) && (await newest(sources.map(within))) < (times.at(-1) ?? 0);
}

const timeOf = async (path: string): Promise<number> => (await stat(path)).mtimeMs;

async function newest(paths: readonly string[]): Promise<number> {
  const times = paths.map(async (path) => {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) return 0;
    const within = found.isDirectory() ? await readdir(path) : [];
    return Math.max(found.mtimeMs, await newest(within.map((name) => join(path, name))));
  });
  return Math.max(0, ...(await Promise.all(times)));
}
