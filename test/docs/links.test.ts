import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf, codesIn } from './markdown.ts';

const pagesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const ofEmulator = [...pagesIn('iot-hub-emulator'), ...pagesIn('iot-hub-emulator/docs')];
const ofTests = pagesIn('test');
const pages = ['README.md', 'CONTRIBUTING.md', ...pagesIn('edge'), ...pagesIn('docs'), ...ofEmulator, ...ofTests];

/** Links to other places than the web. */
const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));

const leadsSomewhere = (from: string, link: string): boolean => {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? from : join(dirname(from), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || (statSync(file).isFile() && anchorsOf(readFileSync(file, 'utf8')).includes(anchor));
};

it.each(pages)('every link in %s has an existing target', (page) => {
  const links = linksIn(readFileSync(page, 'utf8'));
  expect(links.filter((link) => !leadsSomewhere(page, link))).toEqual([]);
});

const commandsIn = (page: string): string[] => {
  const found = readFileSync(page, 'utf8').matchAll(/\bnpm (?:run (?:-s |--silent )?([\w-]+)|(test|start)\b)/g);
  return [...found].map(([, command, usual = '']) => command ?? usual);
};
const scripts = Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts);

it('every command of package.json is in CONTRIBUTING.md, but for the steps of others', () => {
  const commands = scripts.filter((name) => !/^pre|:/.test(name));
  expect(commands.filter((name) => !commandsIn('CONTRIBUTING.md').includes(name))).toEqual([]);
  expect(commands.length).toBeLessThanOrEqual(28);
});

it.each(pages)('every command in %s is one of package.json', (page) =>
  expect(commandsIn(page).filter((name) => !scripts.includes(name))).toEqual([]),
);

/** Where a reader of the page begins: at README, as a maintainer at CONTRIBUTING.md, or at the README of a package. */
function beginnings(page: string): readonly string[] {
  if (ofTests.includes(page)) return ['docs/decisions.md'];
  if (ofEmulator.includes(page)) return ['iot-hub-emulator/README.md'];
  return page.startsWith('edge/') ? ['edge/README.md'] : ['README.md', 'CONTRIBUTING.md'];
}

it.each(pages.filter((page) => !page.endsWith('README.md')))('the first pages link to %s', (page) => {
  const linked = beginnings(page).flatMap((from) =>
    linksIn(readFileSync(from, 'utf8')).map((link) => join(dirname(from), link)),
  );
  expect(linked).toContain(page);
});

it.each(['CONTRIBUTING.md', 'edge/README.md', 'iot-hub-emulator/README.md'])('README leads to %s', (page) =>
  expect(linksIn(readFileSync('README.md', 'utf8'))).toContain(page),
);

/** Between backticks, what looks like a path; a name without a folder is beside the path before it in the same line. */
function pathsIn(line: string): string[] {
  const paths = codesIn(line).filter(
    (code) => /^\.?[\w-]+(?:[./][\w-]+)*\/?$/.test(code) && /\/|\.(?:[jt]s|mjs|json|md|ya?ml)$/.test(code),
  );
  return paths.map((path, index) => {
    const before = paths.slice(0, index).findLast((one) => one.includes('/')) ?? '';
    return path.includes('/') || existsSync(path) ? path : join(before.replace(/[^/]*$/, ''), path);
  });
}

it('every path in CONTRIBUTING.md exists, except what its commands write', () => {
  const paths = readFileSync('CONTRIBUTING.md', 'utf8').split('\n').flatMap(pathsIn);
  expect(paths.length).toBeGreaterThan(30);
  const isWritten = (path: string) => path.includes('model.archive') || path === '.ci/proven';
  expect(paths.filter((path) => !isWritten(path) && !existsSync(path))).toEqual([]);
});
