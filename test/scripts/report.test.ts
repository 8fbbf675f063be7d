import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import { summarize } from '../../scripts/ci/report.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'report-')));
afterAll(() => rmSync(root, { recursive: true }));

const files = {
  'good.test.mjs': `it('adds', () => expect(1 + 1).toBe(2));`,
  'bad.test.mjs': `describe('sums', () => {
    it('is wrong', () => expect(1 + 1).toBe(3));
    it('is right', () => expect(1 + 1).toBe(2));
  });`,
  'broken.test.mjs': `import './absent.mjs';`,
  'hook.test.mjs': `beforeAll(() => { throw new Error('no room'); }); it('never runs', () => {});`,
  'many.test.mjs': `it.each(Array.from({ length: 50 }, (_, n) => n))('test %s', () => { throw new Error('one\\n\\ntwo\\nthree\\nfour\\nfive'); });`,
};

let json: string;
let summary: string[];
beforeAll(async () => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const report = join(root, 'report.json');
  const args = ['run', '--root', root, '--globals', '--reporter=json', `--outputFile=${report}`, '--maxWorkers=1'];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const program = 'node_modules/vitest/vitest.mjs';
  await new Promise((resolve) => execFile(process.execPath, [program, ...args, '--no-isolate'], { env }, resolve));
  json = readFileSync(report, 'utf8');
  summary = summarize([json], root);
});

/** The line with these words, and what follows until the next failure. */
function about(words: string): string[] {
  const from = summary.findIndex((line) => line.includes(words));
  const length = summary.slice(from + 1).findIndex((line) => !line.startsWith('  '));
  return summary.slice(from, from + 1 + length);
}

it('the report names each failed test with its file and reason', () => {
  const [head, ...why] = about('bad.test.mjs');
  expect(head).toBe('failed: bad.test.mjs: sums is wrong');
  expect(why[0]).toContain('expected 2 to be 3');
});

it('the report names a file that cannot be loaded, or whose setup fails', () => {
  expect(about('broken.test.mjs').join()).toMatch(/^failed: broken\.test\.mjs, .*absent\.mjs/);
  expect(about('hook.test.mjs')).toEqual(['failed: hook.test.mjs', '  no room']);
});

it('the report ends with the number of further failures, and the counts', () => {
  expect(summary.filter((line) => line.startsWith('failed: '))).toHaveLength(40);
  expect(summary.join()).not.toMatch(/good|is right/);
  expect(summary.slice(-2)).toEqual(['and 13 more', '2 passed, 51 failed']);
  expect(summarize([json, json], root).at(-1)).toBe('4 passed, 102 failed');
});
