import { existsSync, lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Entry {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optional?: boolean;
  readonly link?: boolean;
  /** Of a link: the folder. */
  readonly resolved?: string;
}

type Lock = Readonly<Record<string, Entry>>;

/**
 * Every package that production needs is there, and no other. Resolves with their number.
 * @param of the lock file: empty for the service, else the folder of a workspace
 */
export async function provePackages(project: string, installed: string, of = ''): Promise<number> {
  const lock: Lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8')).packages;
  const needed = neededBy(of, lock);
  const there = (path: string) => existsSync(join(installed, path, 'package.json'));
  const all = Object.entries(lock).filter(([path, { link }]) => path.startsWith('node_modules/') && !link);
  const surplus = all.filter(([path]) => !needed.has(path) && there(path));
  // What a program uses of a workspace is in its bundle.
  const missing = [...needed].filter((path) => !lock[path]?.optional && !lock[path]?.link && !there(path));
  const isLinked = (path: string) => lstatSync(join(installed, path), { throwIfNoEntry: false }) !== undefined;
  const strangers = Object.entries(lock).filter(
    ([path, { link, resolved }]) => link && resolved !== of && !needed.has(path) && isLinked(path),
  );
  if (strangers.length > 0)
    throw new Error(`Other packages of the project are linked: ${strangers.map(([path]) => path).join(', ')}`);
  if (surplus.length > 0)
    throw new Error(
      `Packages that production does not need are installed: ${surplus.map(([path]) => path).join(', ')}`,
    );
  if (missing.length > 0) throw new Error(`Packages are missing: ${missing.join(', ')}`);
  return all.filter(([path]) => there(path)).length;
}

/** The places of all that an entry needs, directly or not. */
function neededBy(start: string, lock: Lock): Set<string> {
  const found = new Set<string>();
  const queue = [start];
  for (let place = queue.pop(); place !== undefined; place = queue.pop()) {
    const { dependencies, optionalDependencies, peerDependencies } = lock[place] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const path = resolve(name, place, lock);
      if (path === undefined || found.has(path)) continue;
      found.add(path);
      const { link, resolved = '' } = lock[path] ?? {};
      queue.push(link ? resolved : path);
    }
  }
  return found;
}

/** As Node.js looks a package up: next to who wants it, then further out. */
function resolve(name: string, from: string, lock: Lock): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1))) {
    const path = `${place && `${place}/`}node_modules/${name}`;
    if (path in lock) return path;
    if (place === '') return undefined;
  }
}
