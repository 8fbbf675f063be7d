import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { mutatedFiles, mutationPage, mutationPageFile, scores } from '../../scripts/mutationPage.ts';

it('docs/mutation.md has every measured score: run `npm run docs`', () => {
  expect(readFileSync(mutationPageFile, 'utf8')).toBe(mutationPage());
});

describe('test/mutation/scores.json', () => {
  it.each(scores.files)('names an existing file that the tool mutates: $file', ({ file }) => {
    expect(existsSync(file)).toBe(true);
    expect(mutatedFiles().some((one) => one === file || one.startsWith(`${file}/`))).toBe(true);
  });

  it.each(scores.files)('has a reason for each survivor of $file', ({ changes, survivors, reasons = [] }) => {
    expect(survivors).toBeLessThan(changes);
    expect(reasons.length > 0).toBe(survivors > 0);
    expect(reasons.length).toBeLessThanOrEqual(survivors);
  });

  it('has each file once', () => {
    const files = scores.files.map(({ file }) => file);
    expect(new Set(files).size).toBe(files.length);
  });
});
