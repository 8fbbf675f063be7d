import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { messagePages, undecided } from '../../scripts/messagePages.ts';

it.each(Object.keys(messagePages))('%s has no open decision', (file) => {
  const lines = readFileSync(file, 'utf8').split('\n');
  expect(lines.filter((line) => line.includes(undecided))).toEqual([]);
});
