import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf } from './markdown.ts';

const pages = ['README.md', 'edge/README.md', ...readdirSync('docs').map((name) => join('docs', name))].filter((name) =>
  name.endsWith('.md'),
);

/** Links to other places than the web. */
const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));

const leadsSomewhere = (from: string, link: string): boolean => {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? from : join(dirname(from), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || (statSync(file).isFile() && anchorsOf(readFileSync(file, 'utf8')).includes(anchor));
};

it.each(pages)('every link in %s leads somewhere', (page) => {
  const links = linksIn(readFileSync(page, 'utf8'));
  expect(links.filter((link) => !leadsSomewhere(page, link))).toEqual([]);
});

it.each(pages.filter((page) => page !== 'README.md'))('README leads to %s', (page) => {
  expect(linksIn(readFileSync('README.md', 'utf8'))).toContain(page);
});
