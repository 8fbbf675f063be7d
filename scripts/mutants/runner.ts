import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseAst } from 'rolldown/parseAst';
import { fork } from '../../sandbox/service/endWithUs.ts';
import { launcher } from '../../sandbox/state/directories.ts';
import { projectOf } from '../../vitest.config.ts';

export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Of the whole file, with the change. */
  readonly text: string;
}

export interface Verdict {
  readonly mutant: Mutant;
  /** The first test that failed; absent when none did, or when it could not be tried. */
  readonly noticedBy?: string;
  readonly why?: string;
}

interface Trial {
  readonly mutants: readonly Mutant[];
  readonly runners: readonly Runner[];
  readonly testMs: number;
  readonly fileMs: number;
  /** The tests to ask, nearest first. */
  readonly testFilesFor: (mutant: Mutant) => readonly string[];
  readonly onVerdict: (verdict: Verdict) => void;
}

/**
 * Tries the changes one at a time: the tests that load the file run, the nearest first, until one fails which passes without the change. A run that
 * does not end, or whose process dies, has failed (D391).
 */
export async function tryMutants({ mutants, runners, testMs, fileMs, testFilesFor, onVerdict }: Trial) {
  /** The files of tests that pass as the code is; asked when they have failed with a change. One that fails in a busy moment is asked again. */
  const passing = new Set<string>();

  async function passes(runner: Runner, testFile: string): Promise<boolean> {
    if (!passing.has(testFile) && (await run(runner, [testFile])).failed === undefined) passing.add(testFile);
    return passing.has(testFile);
  }

  function run(runner: Runner, testFiles: readonly string[], change?: Mutant): Promise<Seen> {
    const how = { testFiles, testMs, ...(change && { change }) };
    return runner.run(how, fileMs * testFiles.length).catch((error: Error) => ({
      failed: { testFile: testFiles.length === 1 ? (testFiles[0] ?? '') : '', title: '', why: error.message },
    }));
  }

  async function noticedBy(runner: Runner, mutant: Mutant, testFiles: readonly string[]): Promise<string | undefined> {
    for (const part of parts(testFiles)) {
      const { failed } = await run(runner, part, mutant);
      if (failed === undefined) continue;
      // Of a process that has ended nobody knows which file it was at.
      const suspects = failed.testFile === '' ? part : part.slice(part.indexOf(failed.testFile));
      for (const testFile of suspects) {
        const alone = testFile === failed.testFile ? failed : (await run(runner, [testFile], mutant)).failed;
        if (alone && (await passes(runner, testFile))) return `${testFile}: ${alone.title || alone.why}`;
      }
    }
    return undefined;
  }

  async function attempt(runner: Runner, mutant: Mutant): Promise<Verdict> {
    try {
      parseAst(mutant.text, { lang: mutant.file.endsWith('x') ? 'tsx' : 'ts' });
    } catch (error) {
      return { mutant, why: `is no code: ${(error as Error).message}` };
    }
    const testFiles = testFilesFor(mutant);
    if (testFiles.length === 0) return { mutant, why: 'no test loads the file' };
    const test = await noticedBy(runner, mutant, testFiles);
    return test === undefined
      ? { mutant, why: `none of ${testFiles.length} test files failed` }
      : { mutant, noticedBy: test };
  }

  const queue = mutants.values();
  await Promise.all(
    runners.map(async (runner) => {
      for (const mutant of queue) onVerdict(await attempt(runner, mutant));
    }),
  );
}

const mostTogether = 16;

/** One file alone, then more and more that may share a process: most changes are noticed by the first. */
function parts(testFiles: readonly string[]): string[][] {
  const all: string[][] = [];
  let [length, project] = [0, ''];
  for (const file of testFiles) {
    const its = projectOf(file);
    const last = all.at(-1);
    if (last && last.length < length && its === project && its !== 'isolated') last.push(file);
    else {
      all.push([file]);
      [length, project] = [Math.min(2 ** (all.length - 1), mostTogether), its];
    }
  }
  return all;
}

/** A run of files of tests in one new process; it ends with the first test that fails. */
export interface Attempt {
  readonly testFiles: readonly string[];
  /** A file of the project, and the text that it has for this run. Absent: the code as it is. */
  readonly change?: { readonly file: string; readonly text: string };
  readonly testMs: number;
}

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
