// @ts-check
import { readFileSync } from 'node:fs';
import parseLicence from 'spdx-expression-parse';

/**
 * A package of others that a bundle has code of.
 * @typedef {object} BundledPackage
 * @property {string} folder where npm has put it, as the lock file calls it: `node_modules/a/node_modules/b`
 * @property {Record<string, any> & { name: string, version: string, license?: string }} manifest its `package.json`
 * @property {string} integrity of the archive that npm has checked, from the lock file: `sha512-…`
 * @property {string[]} dependencies folders of those that it uses, of the same bundle
 */

/**
 * The packages that files come from, sorted by name and version.
 * @param {Iterable<string>} files whose code is in the bundle
 * @param {string} project its folder
 * @returns {BundledPackage[]}
 * @throws Error for a package that the lock file does not have in this version
 */
export function bundledPackages(files, project) {
  /** @type {Record<string, { version: string, integrity?: string, dependencies?: object, optionalDependencies?: object, peerDependencies?: object }>} */
  const lock = JSON.parse(readFileSync(`${project}/package-lock.json`, 'utf8')).packages;
  const folders = new Set();
  for (const file of files) {
    const [, folder] = /(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
    if (folder !== undefined) folders.add(folder);
  }
  return [...folders]
    .map((folder) => {
      const manifest = JSON.parse(readFileSync(`${project}/${folder}/package.json`, 'utf8'));
      // Packages of long ago have a list, also beside it.
      manifest.license ??= manifest.licenses?.map(licenceOf).join(' OR ');
      delete manifest.licenses;
      const entry = lock[folder];
      if (entry?.version !== manifest.version || entry?.integrity === undefined)
        throw new Error(`${folder} is ${manifest.version}, the lock file has ${entry?.version}: run npm ci`);
      const wanted = { ...entry.dependencies, ...entry.optionalDependencies, ...entry.peerDependencies };
      const dependencies = Object.keys(wanted).flatMap(
        (name) => placesOf(name, folder).find((at) => folders.has(at)) ?? [],
      );
      return { folder, manifest, integrity: entry.integrity, dependencies };
    })
    .sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
}

/**
 * By its SPDX identifier, which the end of the address has when the name is none: `GPL` at `…/licenses/GPL-2.0`.
 * @param {{ type: string, url?: string }} licence
 */
function licenceOf({ type, url = '' }) {
  try {
    parseLicence(type);
    return type;
  } catch {
    return url.split('/').at(-1);
  }
}

/** @param {BundledPackage} bundled */
export const idOf = ({ manifest: { name, version } }) => `${name}@${version}`;

/**
 * Where Node.js looks for a package: next to who wants it, then further out.
 * @param {string} name
 * @param {string} from
 */
function placesOf(name, from) {
  const places = [];
  for (let place = from; place !== ''; place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1)))
    places.push(`${place}/node_modules/${name}`);
  return [...places, `node_modules/${name}`];
}
