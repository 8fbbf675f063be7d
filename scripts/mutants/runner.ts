import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fork } from '../../sandbox/service/endWithUs.ts';
import { launcher } from '../../sandbox/state/directories.ts';

/** A run of files of tests in one new process; it ends with the first test that fails. */
export interface Attempt {
  readonly testFiles: readonly string[];
  /** A file of the project, and the text that it has for this run. Absent: the code as it is. */
  readonly change?: { readonly file: string; readonly text: string };
  /** For one test. */
  readonly testMs: number;
}

/** What came of it. */
export interface Seen {
  /** The first file with a test that failed, or that could not be loaded; absent: all passed. */
  readonly failed?: { readonly testFile: string; readonly title: string; readonly why: string };
}

/** A test runner in a process of its own, which starts when it is needed. */
export interface Runner {
  /** @throws Error when it does not answer in time, or ends; then all that it had started has ended, too */
  run(attempt: Attempt, longestMs: number): Promise<Seen>;
  close(): void;
}

const program = fileURLToPath(new URL('./runnerProcess.ts', import.meta.url));

/** @param directory for the temporary files of tests, which those that are ended leave behind */
export function createRunner(root: string, directory: string): Runner {
  let running: ChildProcess | undefined;
  let lastWords = '';

  function start(): ChildProcess {
    const outside = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'));
    const child = fork(launcher, [program], {
      cwd: root,
      env: { ...Object.fromEntries(outside), TMPDIR: directory },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true, // a process group, which ends as a whole
    });
    lastWords = '';
    child.stderr?.on('data', (text) => {
      lastWords = `${lastWords}${text}`.slice(-2_000);
    });
    child.once('exit', () => end(child));
    return child;
  }

  function end(child: ChildProcess): void {
    if (running === child) running = undefined;
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }

  return {
    run: (attempt, longestMs) =>
      new Promise((resolve, reject) => {
        running ??= start();
        const child = running;
        const settle = (result: () => void) => {
          clearTimeout(timer);
          child.off('message', onMessage).off('exit', onExit);
          result();
        };
        const onMessage = (seen: Seen) => settle(() => resolve(seen));
        const onExit = () => settle(() => reject(new Error(`the test runner has ended: ${lastWords}`)));
        const timer = setTimeout(() => {
          settle(() => reject(new Error(`did not end within ${longestMs / 1000} s`)));
          end(child);
        }, longestMs);
        child.on('message', onMessage).on('exit', onExit);
        child.send(attempt, () => {}); // when it cannot be sent, it has ended
      }),
    close() {
      if (running) end(running);
    },
  };
}
