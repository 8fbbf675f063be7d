import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { roomOf } from '../../scripts/mutation/rooms.ts';
import { readScores } from '../../scripts/mutation/scores.ts';
import { mutationPage, mutationPageFile } from '../../scripts/mutationPage.ts';

it('docs/mutation.md has every measured score: run `npm run docs`', () => {
  expect(readFileSync(mutationPageFile, 'utf8')).toBe(mutationPage());
});

describe('test/mutation/scores.json', () => {
  const scores = readScores();

  it.each(scores)('has a reason for each survivor of $file, which is in a room that is measured', (score) => {
    const { file, changes, survivors, reasons = [] } = score;
    expect(roomOf(file)).toBeDefined();
    expect(survivors).toBeLessThanOrEqual(changes);
    expect(reasons.length > 0).toBe(survivors > 0);
    expect(reasons.length).toBeLessThanOrEqual(survivors);
    expect(reasons.filter(({ why }) => why === '')).toEqual([]);
  });

  it('has each file once', () => {
    const files = scores.map(({ file }) => file);
    expect(new Set(files).size).toBe(files.length);
  });
});
