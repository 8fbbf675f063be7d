import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onExit } from '../../sandbox/service/onExit.ts';
import { runStep } from '../../scripts/ci/step.ts';
import { withFault } from '../mutants/faults.ts';
import { removeInUse } from '../support/processes.ts';
import type { Sabotage } from './sabotages.ts';

const limitMs = 5 * 60_000;

const project = resolve(import.meta.dirname, '../..');
const copied = [
  ...['src', 'backend-kit', 'telemetry', 'page', 'config', 'scripts', 'LICENSE', 'package.json', 'package-lock.json'],
  ...['tsconfig.json', 'tsconfig.build.json'],
];

/**
 * Builds the service as it stands in the checkout, which may change meanwhile, with a sabotage if one is given.
 * @returns the folder that has `dist/main.js`, and what removes it
 * @throws Error when it does not compile, or the sabotage does not find its place
 */
export async function buildApart(sabotage?: Sabotage) {
  const directory = await mkdtemp(join(tmpdir(), 'chaos-build-'));
  const building = new AbortController();
  const cancel = onExit(() => {
    building.abort();
    removeInUse(directory);
  });
  const remove = async () => {
    cancel();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    for (const name of copied) await cp(join(project, name), join(directory, name), { recursive: true });
    await linkPackages(join(project, 'node_modules'), join(directory, 'node_modules'));
    await takeChecked(directory);
    if (sabotage) {
      const file = join(directory, sabotage.file);
      await writeFile(file, withFault(await readFile(file, 'utf8'), sabotage));
    }
    const run = (script: string, ...options: string[]) => runScript(directory, building.signal, script, ...options);
    await run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json').catch(({ message }) => {
      throw new Error(`The service does not compile${sabotage ? ` with ${sabotage.fault}` : ''}:\n${message}`);
    });
    await run('scripts/build.js', 'service');
    return { directory, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function runScript(cwd: string, signal: AbortSignal, ...script: readonly string[]): Promise<void> {
  const said: Uint8Array[] = [];
  const listener = () => (chunk: Uint8Array) => void said.push(chunk);
  // What is removed while a compiler takes its time to end is made again by it.
  const why = await runStep([process.execPath, ...script], { cwd, signal, limitMs, listener, graceMs: 0 });
  if (why !== undefined) throw new Error(`${Buffer.concat(said)}\n${why}`);
}

/** What the compiler has found out about the checkout, if it is built there: of another build, it checks only what differs. */
async function takeChecked(directory: string): Promise<void> {
  const file = 'dist/.tsbuildinfo';
  await mkdir(join(directory, 'dist'));
  await cp(join(project, file), join(directory, file)).catch(({ code }) => {
    if (code !== 'ENOENT') throw new Error(`${file} cannot be copied (${code})`);
  });
}

/** The packages of the checkout; those of its own that the service needs are copied, too. */
async function linkPackages(from: string, to: string): Promise<void> {
  await mkdir(to);
  const others = (await readdir(from)).filter((name) => !copied.includes(name));
  await Promise.all(others.map((name) => symlink(join(from, name), join(to, name))));
  await symlink(join(to, '..', 'telemetry'), join(to, 'telemetry'));
}
