/**
 * Makes `dist` from `src`: one file for each package and a few for our own code, instead of a thousand that Node would find, read
 * and link one by one. That was most of the CPU of a start (D175). Run by `npm run build`, after the compiler.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type OutputChunk, rolldown } from 'rolldown';

/** The programs of the image, and what the scripts of the package load before them. */
const programs = ['main', 'methods', 'deadLetters', 'admin', 'tap', 'envFile'];

const dist = 'dist';
const packages = 'packages/';

const bundle = await rolldown({
  input: Object.fromEntries(programs.map((name) => [name, `src/${name}.ts`])),
  platform: 'node',
  preserveEntrySignatures: false,
  onLog: (_, { message }) => {
    throw new Error(message);
  },
});
const { output } = await bundle.generate({
  entryFileNames: 'programs/[name].js',
  chunkFileNames: ({ name }) => (name.startsWith(packages) ? '[name].js' : 'programs/[name].js'),
  comments: false, // licences stay with the packages, which the image has as well
  sourcemap: 'hidden',
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [{ debugName: 'packages', name: (file) => packageOf(file) }],
  },
});
for (const folder of ['programs', 'packages']) await rm(join(dist, folder), { recursive: true, force: true });
for (const chunk of output) if (chunk.type === 'chunk') await writeChunk(chunk);
await bundle.close();

// At the end: `sandbox/service/upToDate.ts` takes their time for that of the build.
for (const name of programs) {
  await write(`${name}.js`, `process.setSourceMapsEnabled(true);\nawait import('./programs/${name}.js');\n`);
}

function packageOf(file: string): string | null {
  const name = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  return name === undefined ? null : packages + name;
}

/** Our own code has source maps, so that errors name files and lines of `src`. Those of packages would take memory. */
async function writeChunk({ fileName, code, map }: OutputChunk): Promise<void> {
  if (fileName.startsWith(packages) || map === null) return write(fileName, code);
  const { version, sources, names, mappings } = map;
  const name = `${fileName}.map`;
  await write(name, JSON.stringify({ version, sources, names, mappings }));
  await write(fileName, `${code}\n//# sourceMappingURL=${name.replace(/.*\//, '')}\n`);
}

async function write(file: string, text: string): Promise<void> {
  const path = join(dist, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
