import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file));

/** What a file imports, types and dynamic imports included: relative imports as paths like that of the file. */
export const importsOf = (file: string): string[] => importsIn(file, readFileSync(file, 'utf8'));

/** The same without types, of which nothing is left when it runs, and with `telemetry` by its files. */
const loadedBy = (file: string): string[] =>
  importsIn(file, readFileSync(file, 'utf8').replace(/^(?:import|export) type [^;]*;/gm, '')).map((target) =>
    target.replace(/^telemetry\/(?!src\/)/, 'telemetry/src/'),
  );

const importsIn = (file: string, text: string): string[] =>
  [...text.matchAll(/(?:from |import |import\()'([^']+)'/g)].map(([, specifier = '']) =>
    specifier.startsWith('.') ? join(dirname(file), specifier) : specifier,
  );

const known = new Map<string, readonly string[]>();

/** Each file is read once, however many load it. */
function targetsOf(file: string): readonly string[] {
  const targets = known.get(file) ?? (existsSync(file) ? loadedBy(file) : []);
  known.set(file, targets);
  return targets;
}

/** What a file loads, itself or through others, and the file itself; packages by their names. */
export function reachedFrom(file: string): ReadonlySet<string> {
  const found = new Set([file]);
  for (const one of found) {
    if (one.endsWith('.ts')) for (const target of targetsOf(one)) found.add(target);
  }
  return found;
}

/** Those of the files that import a package, themselves or through others. */
export const reaching = (files: readonly string[], name: string): string[] =>
  files.filter((file) => reachedFrom(file).has(name));

/** Cycles between folders, `root` and all folders below it, as `a → b → a`. At least one when there is any. */
export const folderCycles = (root: string): string[] => cyclesBelow(root, dirname);

/** Cycles between the files below `root`, in the same form. */
export const fileCycles = (root: string): string[] => cyclesBelow(root, (file) => file);

function cyclesBelow(root: string, nodeOf: (file: string) => string): string[] {
  const imported = new Map<string, Set<string>>();
  for (const file of filesBelow(root)) {
    const node = nodeOf(file);
    const targets = importsOf(file).filter((target) => target.startsWith(`${root}/`));
    const others = targets.map(nodeOf).filter((target) => target !== node);
    imported.set(node, new Set([...(imported.get(node) ?? []), ...others]));
  }
  const cycles: string[] = [];
  const visited = new Set<string>();
  function visit(node: string, path: readonly string[]) {
    if (path.includes(node)) cycles.push([...path.slice(path.indexOf(node)), node].join(' → '));
    if (visited.has(node)) return;
    visited.add(node);
    for (const next of imported.get(node) ?? []) visit(next, [...path, node]);
  }
  for (const node of imported.keys()) visit(node, []);
  return cycles;
}
