import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf } from './markdown.ts';

const pagesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
const ofEmulator = [...pagesIn('iot-hub-emulator'), ...pagesIn('iot-hub-emulator/docs')];
const ofTests = pagesIn('test');
const pages = [
  'README.md',
  ...['CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...pagesIn('findings'),
  ...pagesIn('edge'),
  ...pagesIn('docs'),
  ...pagesIn('docs/maintainers'),
  ...ofEmulator,
  ...ofTests,
];

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
  expect(commands.length).toBeLessThanOrEqual(30);
});

it.each(pages)('every command in %s is one of package.json', (page) =>
  expect(commandsIn(page).filter((name) => !scripts.includes(name))).toEqual([]),
);

it('every path in CONTRIBUTING.md exists, but those of the example', () => {
  const named = [
    ...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(
      /`((?:src|test|scripts|sandbox|docs|edge|iot-hub-emulator|deploy|\.ci)\/[^`\s*]*)`/g,
    ),
  ];
  const paths = named.map(([, path = '']) => path).filter((path) => !/model\.archive|\.ci\/proven/.test(path));
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

it('every folder in the tree of README.md exists', () => {
  const [, tree = ''] = /```\n(src\/ [^`]*)```/.exec(readFileSync('README.md', 'utf8')) ?? [];
  const folders = tree.split('\n').flatMap((line) => {
    const [, inner = '', names = ''] = /^( *)((?:[\w-]+\/ ?)+)/.exec(line) ?? [];
    return names.split(' ').flatMap((name) => (name === '' ? [] : [inner === '' ? name : `src/${name}`]));
  });
  expect(folders.length).toBeGreaterThan(10);
  expect(folders.filter((folder) => !existsSync(folder))).toEqual([]);
});

it('README, CONTRIBUTING and all of docs stay short', () => {
  const words = (file: string) => readFileSync(file, 'utf8').split(/\s+/).filter(Boolean).length;
  const sum = (files: readonly string[]) => files.reduce((total, file) => total + words(file), 0);
  expect(words('README.md')).toBeLessThanOrEqual(1_300);
  expect(words('CONTRIBUTING.md')).toBeLessThanOrEqual(1_500);
  expect(sum([...pagesIn('docs'), ...pagesIn('docs/maintainers')])).toBeLessThanOrEqual(48_000);
});
