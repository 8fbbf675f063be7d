// @ts-check
/**
 * `node scripts/build.js service|edge|hub` makes `dist` from the sources: one file for each package and a few for our own code,
 * instead of a thousand that Node would find, read and link one by one. That was most of the CPU of a start (D175). Run by
 * `npm run build`, after the compiler.
 */
import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { billOfMaterials } from './build/billOfMaterials.js';
import { bundledPackages } from './build/bundledPackages.js';
import { notices } from './build/notices.js';
import { buildPage } from './build/page.js';
import { withSourceMap } from './run/sourceMap.js';

/** What each image carries: its programs, with what the scripts of the package load before them. */
const images = {
  service: {
    source: 'src/programs',
    programs: ['main', 'methods', 'deadLetters', 'admin', 'tap', 'check', 'envFile', 'backends'],
    manifest: 'package.json',
    dist: 'dist',
    hasPage: true,
  },
  edge: { source: 'edge/src', programs: ['main'], manifest: 'edge/package.json', dist: 'edge/dist', hasPage: false },
  hub: {
    source: 'iot-hub-emulator/src/command',
    programs: ['main'],
    manifest: 'iot-hub-emulator/package.json',
    dist: 'iot-hub-emulator/dist',
    hasPage: false,
  },
};

const image = images[/** @type {keyof typeof images} */ (process.argv[2])];
if (image === undefined) {
  process.stderr.write(`node scripts/build.js ${Object.keys(images).join('|')}\n`);
  process.exit(1);
}
const { source, programs, manifest, dist, hasPage } = image;
/** What each program begins with. */
const first = "require('./nodeVersion.js');\n";
const packages = 'packages/';
/** @type {Record<string, string>} */
const elsewhere = { backends: 'backend-kit/main.ts' };

const bundle = await rolldown({
  input: Object.fromEntries(programs.map((name) => [name, elsewhere[name] ?? `${source}/${name}.ts`])),
  platform: 'node',
  preserveEntrySignatures: false,
  onLog: (_, { message }) => {
    throw new Error(message);
  },
});
const { output } = await bundle.generate({
  format: 'cjs',
  dynamicImportInCjs: false,
  entryFileNames: 'programs/[name].js',
  chunkFileNames: ({ name }) => (name.startsWith(packages) ? '[name].js' : 'programs/[name].js'),
  comments: false, // licences are in a file of their own
  sourcemap: 'hidden',
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [{ debugName: 'packages', name: (file) => packageOf(file) }],
  },
});
// With the caches: V8 tells them from those of other sources by their length only.
for (const old of ['programs', 'packages', ...programs.map((name) => `${name}.cache`)])
  await rm(join(dist, old), { recursive: true, force: true });
for (const chunk of output) {
  if (chunk.type !== 'chunk') continue;
  // Maps of packages would take memory, and their lines tell nobody anything.
  if (chunk.fileName.startsWith(packages)) await write(chunk.fileName, ascii(chunk.code));
  else for (const [name, text] of withSourceMap(chunk)) await write(name, ascii(text));
}
await bundle.close();

const ofPage = hasPage ? await buildPage('operators', join(dist, 'page')) : [];
const files = [...output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : [])), ...ofPage];
const packagesInside = bundledPackages(files, '.');
await write('third-party-notices.txt', notices(packagesInside, '.'));
await write('bom.cdx.json', billOfMaterials(JSON.parse(await readFile(manifest, 'utf8')), packagesInside));

await copyFile('scripts/run/nodeVersion.js', join(dist, 'nodeVersion.js'));
await copyFile('scripts/build/load.cjs', join(dist, 'load.js'));
await write('package.json', '{ "type": "commonjs" }\n');
// At the end: `sandbox/service/upToDate.ts` takes their time for that of the build.
for (const name of programs) await write(`${name}.js`, `${first}require('./load.js').loadProgram('${name}');\n`);
for (const name of ['main', 'methods']) if (programs.includes(name)) writeCodeCache(name); // those that restart

/**
 * A text of bytes is half as large in memory.
 * @param {string} code
 */
function ascii(code) {
  if (/(?<!\\)(\\\\)*\\[\u0080-\uffff]/.test(code)) throw new Error('a backslash would escape the one that is added');
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** @param {string} name of a program */
function writeCodeCache(name) {
  const flags = image === images.service && name === 'main' ? ['--max-semi-space-size=32'] : []; // as in Dockerfile
  const writer = join(import.meta.dirname, 'build/writeCodeCache.cjs');
  execFileSync(process.execPath, [...flags, writer, dist, name, '--help'], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** @param {string} file */
function packageOf(file) {
  const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  return name === undefined ? null : packages + name;
}

/**
 * @param {string} file
 * @param {string} text
 */
async function write(file, text) {
  const path = join(dist, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
