import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { fork, spawn } from '../../../sandbox/service/endWithUs.ts';
import { inherited } from '../../../sandbox/service/process.ts';
import { launcher, projectDirectory } from '../../../sandbox/state/directories.ts';
import type { Answered, Asked } from './sharedProgram.ts';

type Environment = Readonly<Record<string, string>>;

export type Found = Readonly<{ what: string; mark: 'ok' | 'warning' | 'failure'; found: string; todo?: string }>;

/** How the command ended, and all that it has written. */
export type Checked = Readonly<{ code: number | null; text: string }>;

/** Runs the built command, or another program from another folder, with this environment and no other. */
export function check(
  args: readonly string[],
  environment: Environment,
  { program = 'dist/check.js', cwd = projectDirectory } = {},
): Promise<Checked> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...inherited(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, text }));
  });
}

/** The same, with what it has found. */
export async function findings(
  args: readonly string[],
  environment: Environment,
  run: (args: readonly string[], environment: Environment) => Promise<Checked> = check,
): Promise<{ readonly code: number | null; readonly found: readonly Found[]; readonly text: string }> {
  const { code, text } = await run([...args, '--json'], environment);
  const { findings } = JSON.parse(text) as { readonly findings: readonly Found[] };
  return { code, found: findings, text };
}

const sharedProgram = fileURLToPath(new URL('./sharedProgram.ts', import.meta.url));

/**
 * A process for any number of checks: to start one for each would take far more time than the checks.
 * @param environment what must be there when a process starts
 */
export function openSharedChecks(environment: Environment) {
  const child = fork(launcher, [sharedProgram], { cwd: projectDirectory, env: { ...inherited(), ...environment } });
  const waiting = new Map<number, (checked: Checked) => void>();
  child.on('message', ({ number, ...checked }: Answered) => waiting.get(number)?.(checked));
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('the process of the checks has ended')));
  ended.catch(() => undefined);
  return {
    check(args: readonly string[], environment: Environment): Promise<Checked> {
      const number = waiting.size;
      const checked = new Promise<Checked>((resolve) => waiting.set(number, resolve));
      child.send({ number, args, environment: { ...inherited(), ...environment } } satisfies Asked);
      return Promise.race([checked, ended]);
    },
    close: () => void child.kill('SIGKILL'),
  };
}
