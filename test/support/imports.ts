import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));

/** What a file imports, types and dynamic imports included: relative imports as paths like that of the file. */
export const importsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from |import |import\()'([^']+)'/g)].map(([, specifier = '']) =>
    specifier.startsWith('.') ? join(dirname(file), specifier) : specifier,
  );

/** Cycles between folders, `root` and all folders below it, as `a → b → a`. At least one when there is any. */
export function folderCycles(root: string): string[] {
  const imported = new Map<string, Set<string>>();
  for (const file of filesBelow(root)) {
    const targets = importsOf(file).filter((target) => target.startsWith(`${root}/`));
    const folder = dirname(file);
    const others = targets.map((target) => dirname(target)).filter((target) => target !== folder);
    imported.set(folder, new Set([...(imported.get(folder) ?? []), ...others]));
  }
  const cycles: string[] = [];
  const visited = new Set<string>();
  function visit(folder: string, path: readonly string[]) {
    if (path.includes(folder)) cycles.push([...path.slice(path.indexOf(folder)), folder].join(' → '));
    if (visited.has(folder)) return;
    visited.add(folder);
    for (const next of imported.get(folder) ?? []) visit(next, [...path, folder]);
  }
  for (const folder of imported.keys()) visit(folder, []);
  return cycles;
}
