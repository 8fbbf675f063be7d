import { Readable } from 'node:stream';
import { execFile } from '../../../sandbox/service/endWithUs.ts';
import { inherited } from '../../../sandbox/service/process.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';
import type { Streams } from '../../../sandbox/terminal/streams.ts';

export type Ended = { code: number | null; stdout: string; stderr: string };

/** Runs Node.js in the project's folder to its end, with these variables beside the path. */
export const runNode = (args: readonly string[], environment: Readonly<Record<string, string>> = {}, input = '') =>
  new Promise<Ended>((resolve, reject) => {
    const options = { cwd: projectDirectory, env: { ...inherited(), ...environment } };
    const child = execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== 'number') reject(error);
      else resolve({ code: child.exitCode, stdout, stderr });
    });
    child.stdin?.end(input);
  });

/** A command that runs in this process: starting one takes longer than most commands. */
export interface Running {
  readonly ended: Promise<Ended>;
  shown(): string;
}

export function begin(command: (streams: Streams) => Promise<number>, input = ''): Running {
  const written = { stdout: '', stderr: '' };
  const into = (name: keyof typeof written) => ({
    write(text: string | Uint8Array) {
      written[name] += text;
      return true;
    },
  });
  const streams = { stdin: Readable.from([Buffer.from(input)]), stdout: into('stdout'), stderr: into('stderr') };
  return { ended: command(streams).then((code) => ({ code, ...written })), shown: () => written.stdout };
}
export const run = (program: string, args: readonly string[], input = '') =>
  runNode(['scripts/run.js', program, ...args], {}, input);
