// @ts-check
/** `node scripts/run/bundle.js PROGRAM DIRECTORY`: what scripts/run.js runs, with the times of its sources. Packages stay what they are, but for the workspaces: they are our own code. */
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { withSourceMap } from './sourceMap.js';

const [, , program = '', directory = ''] = process.argv;
const main = 'main.js';
const project = join(import.meta.dirname, '../..');
const workspaces = namesOfWorkspaces();

/** @type {Record<string, number>} in ms since 1970 */
const times = {};
const begun = Date.now();

const output = await bundled().catch(({ message }) => {
  process.stderr.write(`${program} cannot be bundled. ${message}\n`);
  return process.exit(1);
});

noteTime(fileURLToPath(import.meta.url));
write('package.json', '{ "type": "module" }\n'); // what is built beside it is not
// The main file comes last: it imports the others, whose names change with what they contain.
for (const chunk of output.toReversed()) {
  if (chunk.type !== 'chunk') continue;
  const end = chunk.fileName === main ? `//# sources=${JSON.stringify(times)}\n` : '';
  for (const [name, text] of withSourceMap(chunk)) write(name, name === main ? text + end : text);
}

async function bundled() {
  const bundle = await rolldown({
    input: { main: program },
    platform: 'node',
    external: isPackage,
    resolve: { conditionNames: ['iot-hub-emulator-source', 'import', 'node'] },
    plugins: [
      {
        name: 'places',
        transform: { filter: { id: /^[^\0]/ }, handler: (code, file) => ({ code: withPlaces(code, file), map: null }) },
      },
    ],
    onLog: (_, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({
    dir: directory,
    entryFileNames: main,
    comments: false,
    sourcemap: 'hidden',
  });
  await bundle.close();
  return output;
}

/** Names of the packages that are sources of this project. */
function namesOfWorkspaces() {
  const folders = (readPackage(project).workspaces ?? []).map((folder) => join(project, folder));
  return folders.filter((folder) => existsSync(folder)).map((folder) => readPackage(folder).name);
}

/**
 * @param {string} folder
 * @returns {{ name: string, workspaces?: string[] }}
 */
function readPackage(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/**
 * A package is found by its name, a file by its path.
 * @param {string} id
 */
function isPackage(id) {
  if (id.startsWith('.') || isAbsolute(id)) return false;
  return !workspaces.some((name) => id === name || id.startsWith(`${name}/`));
}

/**
 * A module in a bundle still is where its source is.
 * @param {string} code
 * @param {string} file
 */
function withPlaces(code, file) {
  noteTime(file);
  return code
    .replace(/\bimport\.meta\.url\b/g, () => JSON.stringify(pathToFileURL(file).href))
    .replace(/\bimport\.meta\.filename\b/g, () => JSON.stringify(file))
    .replace(/\bimport\.meta\.dirname\b/g, () => JSON.stringify(dirname(file)));
}

/**
 * A file that is written while it is read gets a time that it will never have.
 * @param {string} file
 */
function noteTime(file) {
  const { mtimeMs } = statSync(file);
  times[file] = mtimeMs < begun ? mtimeMs : 0;
}

/**
 * As a whole: others may start the same program now.
 * @param {string} name
 * @param {string} text
 */
function write(name, text) {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}
