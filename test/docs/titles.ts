import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { spawn } from '../../sandbox/service/endWithUs.ts';

/**
 * The tests in these files as the test runner collects them, none of which is run.
 * @returns by file, `group > … > title` of each test
 */
export async function collectTests(files: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const directory = mkdtempSync(join(tmpdir(), 'titles-'));
  const report = join(directory, 'list.json');
  // It has been transformed before: of what takes most of the time, a third is saved.
  const options = [`--json=${report}`, '--config=test/support/oneWorker.config.ts', '--experimental.fsModuleCache'];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST')));
  try {
    const runner = ['node_modules/vitest/vitest.mjs', 'list', ...files, ...options];
    const child = spawn(process.execPath, runner, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const [[code], problems] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
    if (code !== 0) throw new Error(`the tests cannot be collected:\n${problems}`);
    const tests = JSON.parse(readFileSync(report, 'utf8')) as { readonly name: string; readonly file: string }[];
    const named = tests.map(({ name, file }) => ({ name, file: relative('.', file) }));
    return new Map(files.map((file) => [file, named.filter((one) => one.file === file).map(({ name }) => name)]));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
