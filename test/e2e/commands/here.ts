import { Readable } from 'node:stream';
import type { Streams } from '../../../sandbox/terminal/streams.ts';
import type { Ended } from './run.ts';

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
  return { ended: command(streams).then((code) => ({ code, ...written })), shown: () => written.stdout };
}
