import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const page = readFileSync('iot-hub-emulator/docs/clients.md', 'utf8');
const [, after = ''] = page.split('<!-- cases:');
const rows = after
  .split('\n')
  .filter((line) => /^\| (?!suite|---)/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );

test.each(rows)('%s, %s is %s', (_, __, here = '') => {
  const [, file = '', title = ''] = /^`([\w./]+)` › (.+)$/.exec(here) ?? [];
  expect(readFileSync(`iot-hub-emulator/test/${file}.ts`, 'utf8')).toContain(title);
});
