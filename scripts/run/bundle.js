// @ts-check
/** `node scripts/run/bundle.js PROGRAM DIRECTORY`: what scripts/run.js runs, with the times of its sources. Packages stay what they are. */
import { mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { withSourceMap } from './sourceMap.js';

const [, , program = '', directory = ''] = process.argv;
const main = 'main.js';

/** @type {Record<string, number>} in ms since 1970 */
const times = {};
const begun = Date.now();

const output = await bundled().catch(({ message }) => {
  process.stderr.write(`${program} cannot be bundled. ${message}\n`);
  return process.exit(1);
});

noteTime(fileURLToPath(import.meta.url));
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
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
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
