import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

interface Entry {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Lock = Readonly<Record<string, Entry>>;

/** What a program adds to the image: files of its own below `dist`, and packages that nothing else needs. */
export interface Growth {
  readonly packages: readonly string[];
  readonly packageBytes: number;
  readonly ownBytes: number;
}

/**
 * @param installed where `node_modules` and `dist` are
 * @param dependency that only this program has
 * @param own its files and folders below `dist`
 */
export async function growthBy(installed: string, dependency: string, own: readonly string[]): Promise<Growth> {
  const { packages: lock }: { packages: Lock } = JSON.parse(
    await readFile(join(installed, 'node_modules/.package-lock.json'), 'utf8'),
  );
  const { dependencies = {} }: Entry = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  const direct = Object.keys(dependencies);
  const without = closureOf(
    lock,
    direct.filter((name) => name !== dependency),
  );
  const packages = [...closureOf(lock, direct)].filter((path) => !without.has(path)).sort();
  const sizes = (paths: readonly string[]) => Promise.all(paths.map((path) => bytesBelow(join(installed, path))));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, bytes) => total + bytes, 0);
  return {
    packages: packages.map((path) => path.replace(/^.*node_modules\//, '')),
    packageBytes: sum(await sizes(packages)),
    ownBytes: sum(await sizes(own.map((path) => join('dist', path)))),
  };
}

/** Paths of the packages that these need, themselves included. */
function closureOf(lock: Lock, names: readonly string[]): Set<string> {
  const found = new Set(names.map((name) => `node_modules/${name}`));
  for (const path of found) {
    const { dependencies, optionalDependencies } = lock[path] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const place = placeOf(lock, path, name);
      if (place !== undefined) found.add(place);
    }
  }
  return found;
}

/** Where a package finds another: in its own `node_modules`, else in that of the one around it … */
function placeOf(lock: Lock, path: string, name: string): string | undefined {
  for (let around = path; ; around = around.slice(0, Math.max(0, around.lastIndexOf('/node_modules/')))) {
    const place = around === '' ? `node_modules/${name}` : `${around}/node_modules/${name}`;
    if (place in lock) return place;
    if (around === '') return undefined;
  }
}

async function bytesBelow(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isDirectory()) return found.size;
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size);
  return (await Promise.all(sizes)).reduce((total, bytes) => total + bytes, 0);
}
