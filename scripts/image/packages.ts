import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Every package that production needs is there, and no other. Resolves with their number. */
export async function provePackages(project: string, installed: string): Promise<number> {
  const lock = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'));
  const entries = Object.entries<{ dev?: boolean; devOptional?: boolean; optional?: boolean }>(lock.packages).slice(1);
  const there = (path: string) => existsSync(join(installed, path, 'package.json'));
  const surplus = entries.filter(([path, { dev, devOptional }]) => (dev || devOptional) && there(path));
  const missing = entries.filter(
    ([path, { dev, devOptional, optional }]) => !(dev || devOptional || optional || there(path)),
  );
  if (surplus.length > 0)
    throw new Error(`Packages for development are installed: ${surplus.map(([path]) => path).join(', ')}`);
  if (missing.length > 0) throw new Error(`Packages are missing: ${missing.map(([path]) => path).join(', ')}`);
  return entries.filter(([path]) => there(path)).length;
}
