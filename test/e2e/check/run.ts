import { spawn } from '../../../sandbox/service/endWithUs.ts';
import { inherited } from '../../../sandbox/service/process.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';

type Environment = Readonly<Record<string, string>>;

export type Found = Readonly<{ what: string; mark: 'ok' | 'warning' | 'failure'; found: string; todo?: string }>;

/** How the command ended, and all that it has written. */
export type Checked = Readonly<{ code: number | null; text: string }>;

/** Runs the built command, or another program, with this environment and no other. */
export function check(
  args: readonly string[],
  environment: Environment,
  { program = 'dist/check.js' } = {},
): Promise<Checked> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: projectDirectory,
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
