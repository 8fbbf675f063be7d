import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';

const project = join(import.meta.dirname, '../..');
const emulatorExports: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync(join(project, 'iot-hub-emulator/package.json'), 'utf8'),
).exports;

const imported = /(?:from |import |import\()'([^']+)'/g;
const mocked = /\bvi\.(?:do)?mock\(\s*'([^']+)'/gi;
/** Any literal with the name of a program, wherever it is started. */
const named = /['"`]((?:[\w.-]+\/)*[\w.-]+\.(?:tsx?|m?js))['"`]/g;

/** Paths from the project's folder count from the working directory, which it is, unless the file has a whole path. */
const rootFor = (file: string): string => (isAbsolute(file) ? project : '');
const isInstalled = (name: string): boolean => existsSync(join(project, 'node_modules', name));
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(folder, file));

/** What a file imports, types and dynamic imports included: relative imports as paths like that of the file. */
export const importsOf = (file: string): string[] => importsIn(file, readFileSync(file, 'utf8'));

const importsIn = (file: string, text: string): string[] =>
  [...text.matchAll(imported)].map(([, specifier = '']) =>
    specifier.startsWith('.') ? join(dirname(file), specifier) : specifier,
  );

/** What a file loads, itself or through others, and the file itself: files of the project as paths like that of the file, packages by their names. */
export const loadedFrom = (file: string): ReadonlySet<string> => closureOf(file, loadedBy);

/** What has a say in what a file does: the same, and what programs load that it, or what it loads, starts or names by a literal. */
export const reachedFrom = (file: string): ReadonlySet<string> => closureOf(file, reachedBy);

/** Those of the files that import a package, themselves or through others. */
export const reaching = (files: readonly string[], name: string): string[] =>
  files.filter((file) => loadedFrom(file).has(name));

function closureOf(file: string, targetsOf: (file: string) => readonly string[]): ReadonlySet<string> {
  const found = new Set([file]);
  for (const one of found) if (/\.(tsx?|m?js)$/.test(one)) for (const target of targetsOf(one)) found.add(target);
  return found;
}

const loadedBy = onceForEach((file) => {
  const text = runningTextOf(file);
  return [...text.matchAll(imported), ...text.matchAll(mocked)].flatMap(([, specifier = '']) =>
    resolved(file, specifier),
  );
});

const reachedBy = onceForEach((file) => [
  ...loadedBy(file),
  ...[...runningTextOf(file).matchAll(named)].flatMap(([, name = '']) => namedBy(file, name)),
]);

/** Without the imports of types, of which nothing is left when it runs. Packages are not looked into. */
const runningTextOf = (file: string): string =>
  isFile(file) ? readFileSync(file, 'utf8').replace(/^(?:import|export) type [^;]*;/gm, '') : '';

/** As the test runner resolves it. Text that only looks like an import leads to nothing. */
function resolved(file: string, specifier: string): string[] {
  if (specifier.startsWith('.')) return [join(dirname(file), specifier)].filter(isFile);
  const source = sourceOf(specifier);
  if (source !== undefined) return [join(rootFor(file), source)].filter(isFile);
  const [name = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? [];
  return isBuiltin(specifier) || isInstalled(name) ? [specifier] : [];
}

/** Of a part of a workspace package. */
function sourceOf(specifier: string): string | undefined {
  if (specifier.startsWith('@device-messaging/telemetry/'))
    return specifier.replace('@device-messaging/telemetry/', 'telemetry/src/');
  const source = emulatorExports[specifier.replace('iot-hub-emulator', '.')]?.['iot-hub-emulator-source'];
  return source && join('iot-hub-emulator', source);
}

/** A file beside this one, a file of the project, or what a built program is made of. */
const namedBy = (file: string, name: string): string[] =>
  [
    join(dirname(file), name),
    join(rootFor(file), name),
    join(rootFor(file), name.replace(/^dist\/(\w+)\.js$/, 'src/programs/$1.ts')),
    join(rootFor(file), name.replace(/^edge\/dist\/(\w+)\.js$/, 'edge/src/$1.ts')),
  ].filter((one) => isFile(one) && !/(^|\/)(dist|node_modules)\//.test(one));

function onceForEach(work: (file: string) => readonly string[]): (file: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  return (file) => {
    const targets = known.get(file) ?? [...new Set(work(file))];
    known.set(file, targets);
    return targets;
  };
}

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
