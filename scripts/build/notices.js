// @ts-check
import { readdirSync, readFileSync } from 'node:fs';
import { idOf } from './bundledPackages.js';

/** @import { BundledPackage } from './bundledPackages.js' */

const licenceFile = /^(licen[cs]e|notice|copying)/i;
const line = `${'-'.repeat(80)}\n`;

/**
 * The licences of the packages that a bundle has code of, which ask to come with every copy; a text that several share
 * stands once.
 * @param {readonly BundledPackage[]} packages
 * @param {string} project its folder
 * @returns {string}
 */
export function notices(packages, project) {
  /** @type {Map<string, string[]>} */
  const packagesOf = new Map();
  for (const bundled of packages) {
    const text = textOf(bundled, project);
    packagesOf.set(text, [...(packagesOf.get(text) ?? []), `${idOf(bundled)} (${bundled.manifest.license})`]);
  }
  const sections = [...packagesOf].map(([text, names]) => `${line}${names.join('\n')}\n${line}\n${text}\n`);
  return `This program has code of the packages below, each under the licence that follows its name.\n\n${sections.join('\n')}`;
}

/**
 * @param {BundledPackage} bundled
 * @param {string} project
 * @throws Error when the package names a licence and does not bring its text
 */
function textOf(bundled, project) {
  const { folder, manifest } = bundled;
  const files = readdirSync(`${project}/${folder}`).filter((name) => licenceFile.test(name));
  const texts = files
    .sort()
    .map((name) => readFileSync(`${project}/${folder}/${name}`, 'utf8').replace(/\r/g, '').trim());
  if (texts.length > 0) return `${texts.join('\n\n')}\n`;
  if (manifest.license !== 'MIT') throw new Error(`${idOf(bundled)} comes without the text of its licence`);
  const author = manifest['author']?.name ?? manifest['author'] ?? manifest.name;
  return readFileSync(`${project}/LICENSE`, 'utf8').replace(/^Copyright .*$/m, `Copyright (c) ${author}`);
}
