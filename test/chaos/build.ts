import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { onExit } from '../../sandbox/service/onExit.ts';
import type { Sabotage } from './sabotages.ts';

/** A service that was built apart from the checkout, which may change meanwhile. */
export interface Build {
  /** Has `dist/main.js`. */
  readonly directory: string;
  remove(): Promise<void>;
}

const compile = promisify(execFile);
const project = resolve(import.meta.dirname, '../..');
const copied = ['src', 'config', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'scripts/build.ts'];

/**
 * Builds the service as it stands in the checkout, with a sabotage if one is given.
 * @throws Error when it does not compile, or the sabotage does not find its place
 */
export async function buildApart(sabotage?: Sabotage): Promise<Build> {
  const directory = await mkdtemp(join(tmpdir(), 'chaos-build-'));
  const cancel = onExit(() => rmSync(directory, { recursive: true, force: true }));
  const remove = async () => {
    cancel();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    for (const name of copied) await cp(join(project, name), join(directory, name), { recursive: true });
    await symlink(join(project, 'node_modules'), join(directory, 'node_modules'));
    if (sabotage) await apply(sabotage, directory);
    const compiler = join(project, 'node_modules/typescript/bin/tsc');
    await compile(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { cwd: directory }).catch(({ stdout }) => {
      throw new Error(`The service does not compile${sabotage ? ` with ${sabotage.name}` : ''}:\n${stdout}`);
    });
    await compile(process.execPath, ['--import', 'tsx', 'scripts/build.ts'], { cwd: directory });
    return { directory, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function apply({ file, find, replace }: Sabotage, directory: string): Promise<void> {
  const path = join(directory, file);
  const text = await readFile(path, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`${file} must contain exactly once: ${find}`);
  await writeFile(
    path,
    text.replace(find, () => replace),
  );
}
