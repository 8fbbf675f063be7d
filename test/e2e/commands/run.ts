import { Readable } from 'node:stream';
import { execFile } from '../../../sandbox/service/endWithUs.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';
import type { Streams } from '../../../sandbox/terminal/streams.ts';

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

/** A command that runs in this process: starting one takes longer than most commands. */
export interface Running {
  readonly ended: Promise<Ended>;
  /** What it has written to stdout so far. */
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
  return {
    ended: command(streams).then((code) => ({ code, ...written })),
    shown: () => written.stdout,
  };
}
