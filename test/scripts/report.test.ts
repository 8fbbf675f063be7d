import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
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

it('the report names what has failed, with its file and reason, and ends with the number of further failures and the counts', async () => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const report = join(root, 'report.json');
  const args = ['run', '--root', root, '--globals', '--reporter=json', `--outputFile=${report}`, '--maxWorkers=1'];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  const program = 'node_modules/vitest/vitest.mjs';
  await new Promise((resolve) => execFile(process.execPath, [program, ...args, '--no-isolate'], { env }, resolve));
  const json = readFileSync(report, 'utf8');
  const summary = summarize([json], root);
  const text = summary.join('\n');
  expect(text).toMatch(/^failed: bad\.test\.mjs: sums is wrong\n {2}.*expected 2 to be 3/m);
  expect(text).toMatch(/^failed: broken\.test\.mjs\n {2}.*absent\.mjs/m);
  expect(text).toContain('failed: hook.test.mjs\n  no room\n');
  expect(summary.filter((line) => line.startsWith('failed: '))).toHaveLength(40);
  expect(text).not.toMatch(/good|is right/);
  expect(summary.slice(-2)).toEqual(['and 13 more', '2 passed, 51 failed']);
  expect(summarize([json, json], root).at(-1)).toBe('4 passed, 102 failed');
});
