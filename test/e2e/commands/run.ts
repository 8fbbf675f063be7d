import { execFile } from '../../../sandbox/service/endWithUs.ts';
import { inherited } from '../../../sandbox/service/process.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';

export type Ended = { code: number | null; stdout: string; stderr: string };

/** Runs Node.js in the project's folder to its end, with these variables beside the path. */
export function runNode(args: readonly string[], environment: Readonly<Record<string, string>> = {}, input = '') {
  return new Promise<Ended>((resolve, reject) => {
    const options = { cwd: projectDirectory, env: { ...inherited(), ...environment } };
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: child.exitCode, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

/** Runs one of the project's programs in TypeScript. */
export const run = (program: string, args: readonly string[], input = '') =>
  runNode(['scripts/run.js', program, ...args], {}, input);
