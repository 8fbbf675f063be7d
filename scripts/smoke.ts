/**
 * Runs a small set of tests with the Node.js of the images, the newest line with long-term support: the whole suite runs with the
 * oldest that the sources support. `npm run prove -- smoke`
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { spawn } from '../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../sandbox/state/directories.ts';
import { installBaseNode } from './image/baseNode.ts';

/** The official clients, HTTP and TLS, files, the programs: what another Node.js could change. */
const tests = ['attempts', 'bytes', 'methods', 'restart', 'scaleOut'].map((name) => `test/e2e/${name}.test.ts`);
tests.push('test/backends/', 'test/storage/');

await import('./buildIfOlder.ts');
const directory = await mkdtemp(join(tmpdir(), 'smoke-'));
try {
  const node = await installBaseNode(projectDirectory, directory);
  const env = { ...process.env, PATH: `${dirname(node)}:${process.env['PATH']}` };
  const vitest = spawn(node, ['node_modules/vitest/vitest.mjs', 'run', ...tests], { stdio: 'inherit', env });
  process.on('SIGINT', () => {}); // Ctrl-C reaches Vitest, too: what is below the folder goes when it has ended
  process.exitCode = await new Promise<number>((resolve) => vitest.once('exit', (code) => resolve(code ?? 1)));
} finally {
  await rm(directory, { recursive: true, force: true });
}
