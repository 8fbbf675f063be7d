'use strict';
// @ts-check
/**
 * Loads a program of `dist` from its chunks, in each process once (D175). What V8 made of them during the build stands in `PROGRAM.cache`: with another
 * version of Node, or with flags of V8 on the command line, V8 refuses that and compiles as usual. Errors name the lines of the sources; maps
 * are read when the first error asks for its stack.
 */
const { readFileSync } = require('node:fs');
const { SourceMap } = require('node:module');
const { dirname, join } = require('node:path');
const vm = require('node:vm');

/** @typedef {{ exports: object, readonly script: vm.Script }} Chunk */

/** By their paths in `dist`, in the order in which they were loaded. @type {Map<string, Chunk>} */
const chunks = new Map();
/** @type {{ [path: string]: readonly [begin: number, end: number] }} */
let places = {};
let cached = Buffer.alloc(0);

/** @param {string} program its name */
exports.loadProgram = (program) => {
  try {
    cached = readFileSync(join(__dirname, `${program}.cache`));
    const end = cached.indexOf('\n');
    places = JSON.parse(cached.toString('latin1', 0, end));
    cached = cached.subarray(end + 1);
  } catch {
    // it is compiled as usual
  }
  exports.load(`programs/${program}.js`);
};

/**
 * @param {string} path below `dist`
 * @returns {object}
 */
exports.load = (path) => {
  const known = chunks.get(path);
  if (known !== undefined) return known.exports;
  const filename = join(__dirname, path);
  const code = `(function (exports, require, module, __filename, __dirname) { 'use strict'; ${readFileSync(filename, 'latin1')}\n})`;
  const [begin, end] = places[path] ?? [];
  const script = new vm.Script(code, { filename, ...(end && { cachedData: cached.subarray(begin, end) }) });
  const chunk = { exports: {}, script };
  chunks.set(path, chunk);
  const folder = dirname(path);
  /** @param {string} id */
  const inner = (id) => (id.startsWith('.') ? exports.load(join(folder, id)) : require(id));
  script.runInThisContext()(chunk.exports, inner, chunk, filename, dirname(filename));
  return chunk.exports;
};

/** The paths of the chunks that were loaded, and the bytes of a file `PROGRAM.cache` for them. */
exports.loaded = () => [...chunks.keys()];
exports.codeCache = () => {
  const all = [...chunks].map(([path, { script }]) => ({ path, data: script.createCachedData() }));
  /** @type {typeof places} */
  const index = {};
  let begin = 0;
  for (const { path, data } of all) {
    index[path] = [begin, begin + data.length];
    begin += data.length;
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(index)}\n`), ...all.map(({ data }) => data)]);
};

/** @type {Map<string, SourceMap | undefined>} */
const maps = new Map();

/** @param {string} file */
function mapOf(file) {
  if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
  return maps.get(file);
}

/** @param {string} file */
function readMap(file) {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined; // of a package
  }
}

Error.prepareStackTrace = (error, sites) =>
  [Error.prototype.toString.call(error), ...sites.map((site) => `    at ${inSource(site)}`)].join('\n');

/** @param {NodeJS.CallSite} site */
function inSource(site) {
  const text = String(site);
  const file = site.getFileName();
  const [line, column] = [site.getLineNumber() ?? 0, site.getColumnNumber() ?? 0];
  if (!file?.startsWith(__dirname)) return text;
  const source = mapOf(file)?.findEntry(line - 1, column - 1);
  if (source === undefined || !('originalSource' in source)) return text;
  const { originalSource, originalLine, originalColumn } = source;
  const place = `${join(dirname(file), originalSource)}:${originalLine + 1}:${originalColumn + 1}`;
  return text.replace(`${file}:${line}:${column}`, () => place);
}
