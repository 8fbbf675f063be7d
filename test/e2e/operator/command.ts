import { execFile } from '../../../sandbox/service/endWithUs.ts';
import { inherited } from '../../../sandbox/service/process.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';

/** Runs a command of the image to its end. */
export const run = (
  command: 'tap' | 'admin',
  options: readonly string[],
  environment: Readonly<Record<string, string>>,
) =>
  new Promise<{ code: unknown; output: string; errors: string }>((resolve) => {
    const args = [`dist/${command}.js`, ...options];
    const env = { ...inherited(), ...environment };
    execFile(process.execPath, args, { cwd: projectDirectory, env }, (error, output, errors) =>
      resolve({ code: error?.code ?? 0, output, errors }),
    );
  });
