import { execFile } from '../../../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one of the project's programs to its end. */
export function run(program: string, args: string[], input = ''): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const options = { cwd: projectDirectory, env: { PATH: process.env['PATH'] } };
    const child = execFile(process.execPath, ['scripts/run.js', program, ...args], options, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: child.exitCode, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}
