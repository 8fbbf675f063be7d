import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from '../../sandbox/service/endWithUs.ts';

export interface StepOptions {
  readonly limitMs: number;
  /** Default: ours. */
  readonly cwd?: string;
  /** Between the request to end and the end by force; default 15 s. */
  readonly graceMs?: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
  /** Given what it writes, one for each stream; default: it goes where ours goes. */
  readonly listener?: () => (chunk: Uint8Array) => void;
}

const heardWithinMs = 5_000;

/**
 * Runs a command with all that it starts in a process group of its own. The whole group ends with it, or when it takes too
 * long, or when this process ends.
 * @returns what is wrong; `undefined` when it has ended with 0
 */
export function runStep(command: readonly string[], options: StepOptions): Promise<string | undefined> {
  const { limitMs, cwd, graceMs = 15_000, signal, listener } = options;
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const output = listener ? 'pipe' : 'inherit';
    const child = spawn(program, args, { stdio: ['ignore', output, output], detached: true, cwd });
    for (const stream of [child.stdout, child.stderr]) if (listener) stream?.on('data', listener());
    const heard = listener ? once(child, 'close') : undefined;
    let why: string | undefined;
    let force: NodeJS.Timeout | undefined;
    const end = (reason: string) => {
      why ??= reason;
      signalGroup(child, 'SIGTERM');
      force ??= setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
    };
    const limit = setTimeout(() => end(`did not end within ${limitMs / 1000} s`), limitMs);
    const onAbort = () => end('interrupted');
    signal?.addEventListener('abort', onAbort);
    const settle = (result: string | undefined) => {
      clearTimeout(limit);
      clearTimeout(force);
      signal?.removeEventListener('abort', onAbort);
      signalGroup(child, 'SIGKILL'); // what it has left behind
      // Something outside the group may keep the streams open.
      void Promise.race([heard, sleep(heardWithinMs, undefined, { ref: false })]).finally(() => resolve(why ?? result));
    };
    child.once('error', ({ message }) => settle(message));
    child.once('exit', (code, by) => settle(code === 0 ? undefined : (by ?? `exit code ${code}`)));
  });
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
