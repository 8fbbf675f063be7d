import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { messagePages } from '../../scripts/messagePages.ts';

it.each(Object.entries(messagePages))('%s has every message as it is: run `npm run docs`', (file, rewritten) => {
  const page = readFileSync(file, 'utf8');
  expect(rewritten(page)).toBe(page);
});
