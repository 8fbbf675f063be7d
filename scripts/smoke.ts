/**
 * Runs a small set of tests with the Node.js of the images, the newest line with long-term support: the whole suite runs with the oldest that
 * the sources support. `npm run prove -- smoke`
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { spawn } from '../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../sandbox/state/directories.ts';
import { installNode } from './image/baseNode.ts';

/** The official clients, HTTP and TLS, files, the programs: what another Node.js could change. */
const tests = ['isolation', 'bytes', 'methods', 'restart', 'scaleOut'].map((name) => `test/e2e/${name}.test.ts`);
tests.push('test/backends/', 'test/stores/');
const absent = tests.filter((path) => !existsSync(join(projectDirectory, path)));
if (absent.length > 0) throw new Error(`there is no ${absent.join(', ')}`); // Vitest passes over what it does not find

await import('./buildIfOlder.ts');
const directory = await mkdtemp(join(tmpdir(), 'smoke-'));
process.on('SIGINT', () => {}); // Ctrl-C reaches Vitest, too: what is below the folder goes when it has ended
try {
  const node = await installNode(projectDirectory, directory);
  const env = { ...process.env, PATH: `${dirname(node)}:${process.env['PATH']}` };
  const vitest = spawn(node, ['node_modules/vitest/vitest.mjs', 'run', ...tests], { stdio: 'inherit', env });
  process.exitCode = await new Promise<number>((resolve) => vitest.once('exit', (status) => resolve(status ?? 1)));
} finally {
  await rm(directory, { recursive: true, force: true });
}
