import { rm } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/**
 * Modules of the service as the build makes them: tsx names each closure when it is made, which can take as long as what is measured.
 * @param files below `src`, without their ending
 */
export async function builtModules(files: readonly string[]): Promise<unknown[]> {
  const root = join(import.meta.dirname, '../../..');
  const dir = join(root, 'dist', `bench-${process.pid}`);
  const bundle = await rolldown({
    input: Object.fromEntries(files.map((file) => [file, join(root, 'src', `${file}.ts`)])),
    platform: 'node',
    external: (id) => !id.startsWith('.') && !isAbsolute(id),
  });
  await bundle.write({ dir, comments: false });
  await bundle.close();
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(join(dir, `${file}.js`)).href)));
  await rm(dir, { recursive: true });
  return modules;
}
