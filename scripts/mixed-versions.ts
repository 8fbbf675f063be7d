/**
 * Builds the last release in `.ci/releases`, and has that build and this one share the partitions of a hub, in a rolling update and
 * back. Fails where the commit cannot be had. `npm run prove -- versions`
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildService } from '../sandbox/service/build.ts';
import { spawn } from '../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../sandbox/state/directories.ts';
import { obtainCommit } from './mixedVersions/obtainCommit.ts';
import { lastRelease, releasesIn } from './release/releases.ts';

const directory = await mkdtemp(join(tmpdir(), 'earlier-'));

/** @throws Error when the command fails */
async function run(command: readonly [string, ...string[]], cwd: string, env: NodeJS.ProcessEnv = process.env) {
  process.stdout.write(`${command.join(' ')}\n`);
  const [program, ...args] = command;
  const child = spawn(program, args, { cwd, env, stdio: 'inherit' });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve));
  if (code !== 0) throw new Error(`${command.join(' ')} has ended with ${code}`);
}

try {
  const { version, commit } = lastRelease(releasesIn(projectDirectory));
  process.stdout.write(`${version} is commit ${commit}\n`);
  await obtainCommit(projectDirectory, commit);
  await run(['sh', '-c', `git archive ${commit} | tar -x -C '${directory}'`], projectDirectory);
  await run(['npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund'], directory);
  await run(['npm', 'run', 'build'], directory);
  await buildService();
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mixed/vitest.config.ts'];
  const builds = { MIXED_EARLIER: directory, MIXED_PRESENT: projectDirectory };
  await run([process.execPath, ...vitest], projectDirectory, { ...process.env, ...builds });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
} finally {
  await rm(directory, { recursive: true, force: true });
}
