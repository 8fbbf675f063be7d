import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { writtenPages } from '../../scripts/writtenPages.ts';

it.each(writtenPages)('%s is up to date: run `npm run docs`', (file, rewritten) => {
  const page = readFileSync(file, 'utf8');
  expect(rewritten(page)).toBe(page);
});
