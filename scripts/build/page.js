// @ts-check
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Makes the web page of one home: one file of JavaScript, and the files beside it. Nothing is left to be fetched from
 * elsewhere. It is no module: modules are fetched with an `Origin`, which an admin port refuses.
 * @param {'sandbox' | 'operators'} home
 * @param {string} directory
 * @returns {Promise<string[]>} the files that it has code of
 */
export async function buildPage(home, directory) {
  const bundle = await rolldown({
    input: { page: `page/src/${home}/main.tsx` },
    platform: 'browser',
    transform: { target: 'es2022' }, // `page/tsconfig.json` says the rest
    onLog: (_, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({
    format: 'es',
    entryFileNames: '[name].js',
    comments: false,
    minify: true,
  });
  await bundle.close();
  const [chunk, ...others] = output;
  if (others.length > 0) throw new Error('the page is more than one file');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'page.js'), chunk.code);
  for (const [from, to] of [
    ['index.html', 'index.html'],
    ['icon.svg', 'icon.svg'],
    ['style.css', 'page.css'],
  ])
    await copyFile(join('page', from ?? ''), join(directory, to ?? ''));
  return chunk.moduleIds;
}
