import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectDirectory } from '../state/directories.ts';
import { spawn } from './endWithUs.ts';

/** How a process ended; `reason` says it in words. */
export interface ProcessExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  reason: string;
}

/**
 * The service as it runs in production: a process of its own that knows nothing but its environment, and is started again when it ends
 * with `restartCode`.
 */
export interface ServiceProcess {
  /** Of the process that runs now. */
  readonly pid: number;
  /** Milliseconds from the start to the first successful readiness check. */
  readyAfterMs: number;
  /** Settles when the process has ended, for any reason, and is not started again. */
  exited: Promise<ProcessExit>;
  /** Asks it to stop (SIGTERM), as an orchestrator would, once it is ready; SIGKILL after `graceMs` (default 30 s). */
  stop(graceMs?: number): Promise<void>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

export interface ServiceProcessOptions {
  /** What it is called when it fails; default `The service`. */
  name?: string;
  /** Its whole environment, but for the few variables that an operating system needs to start a program. */
  environment: Readonly<Record<string, string>>;
  readyzUrl: string;
  /** stdout and stderr are appended here. */
  logFile: string;
  /** The folder to start it in, default the project. */
  directory?: string | undefined;
  /** Default `serviceCommand`. */
  command?: readonly string[] | undefined;
  /** Who it runs as, which only root can choose; default: as this process. */
  user?: { readonly uid: number; readonly gid: number };
  /** Default 60 s: a machine may be busy. */
  readyWithinMs?: number;
  /** Gives up waiting, and ends the process again. */
  signal?: AbortSignal | undefined;
}

/** Ended so, the service is to be started again (D402). */
export const restartCode = 75;

/** How the image starts the service (D164). */
export const serviceCommand = ['node', '--max-semi-space-size=32', 'dist/main.js'] as const;

/** What went wrong and the last lines the service wrote. */
export class ServiceFailed extends Error {
  override name = 'ServiceFailed';
}

interface Run {
  readonly child: ChildProcess;
  readonly exited: Promise<ProcessExit>;
}

/** Starts the service and waits until it is ready. Rejects with `ServiceFailed` when it ends before, or takes too long. */
export async function startService(options: ServiceProcessOptions): Promise<ServiceProcess> {
  const { readyWithinMs = 60_000 } = options;
  const start = performance.now();
  let run = begin(options);
  // A hub that fails over meanwhile ends it with `restartCode` before it is ready, again and again if need be.
  while (!(await isReady(run, options, start + readyWithinMs))) run = begin(options);
  const readyAfterMs = performance.now() - start;
  let starting = Promise.resolve(true);
  let isWanted = true;

  async function untilItStaysEnded(): Promise<ProcessExit> {
    for (;;) {
      const how = await run.exited;
      if (how.code !== restartCode || !isWanted) return how;
      run = begin(options);
      starting = isReady(run, options, performance.now() + readyWithinMs).catch(() => false);
    }
  }
  const exited = untilItStaysEnded();

  return {
    get pid() {
      return run.child.pid ?? 0;
    },
    readyAfterMs,
    exited,
    async stop(graceMs = 30_000) {
      await starting;
      isWanted = false;
      await end(run, 'SIGTERM', graceMs);
    },
    async kill() {
      isWanted = false;
      await end(run, 'SIGKILL', 0);
    },
  };
}

function begin({ environment, logFile, directory = projectDirectory, ...options }: ServiceProcessOptions): Run {
  const [program = 'node', ...args] = options.command ?? serviceCommand;
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(program === 'node' ? process.execPath : program, args, {
    cwd: directory,
    env: { ...inherited(), ...environment },
    stdio: ['ignore', log, log],
    ...options.user,
  });
  closeSync(log);
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, reason: error.message }));
    child.once('exit', (code, signal) => resolve({ code, signal, reason: signal ?? `exit code ${code}` }));
  });
  return { child, exited };
}

async function end({ child, exited }: Run, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(timer);
}

/** Waits until it is; not if it has ended and is to be started again. */
async function isReady(run: Run, options: ServiceProcessOptions, latest: number): Promise<boolean> {
  const { name = 'The service', readyzUrl, logFile, readyWithinMs = 60_000 } = options;
  let ending: ProcessExit | undefined;
  void run.exited.then((how) => {
    ending = how;
  });
  while (!(await answers(readyzUrl))) {
    if (ending?.code === restartCode) return false;
    if (ending) throw new ServiceFailed(`${name} ended before it was ready: ${ending.reason}.${await tail(logFile)}`);
    if (options.signal?.aborted) {
      await end(run, 'SIGKILL', 0);
      throw options.signal.reason;
    }
    if (performance.now() > latest) {
      await end(run, 'SIGKILL', 0);
      throw new ServiceFailed(`${name} was not ready within ${readyWithinMs / 1000} s.${await tail(logFile)}`);
    }
    await sleep(25);
  }
  return true;
}

/** Whether a GET of this address is answered with 2xx. */
export async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}

/** The end of the service's log, as a paragraph to put below an error. */
export async function tail(logFile: string, lines = 20): Promise<string> {
  const written = (await readFile(logFile, 'utf8').catch(() => '')).trimEnd().split('\n').slice(-lines).join('\n');
  return written ? `\nThe last lines of ${logFile}:\n\n${written}\n` : `\n${logFile} is empty or missing.`;
}

/** What an operating system needs to start a program. */
export function inherited(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'SystemRoot'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}
