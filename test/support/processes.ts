import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { execFile } from '../../sandbox/service/endWithUs.ts';
import type {
  backlogLimits,
  failover,
  invocationLimits,
  reading,
  secretFiles,
  timing,
} from '../../src/settings/constants.ts';

/** Ids of the processes that this one has started, that those have started, and so on. */
export async function descendants(ancestor: number): Promise<readonly number[]> {
  const found = new Set([ancestor]);
  // A process may have a smaller id than its parent, when they have been counted through.
  const all = await list();
  for (let before = 0; before < found.size; ) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  found.delete(ancestor);
  return [...found];
}

/** Those of them that have not ended. */
export const running = async (pids: readonly number[]): Promise<readonly number[]> =>
  (await list()).map(({ pid }) => pid).filter((pid) => pids.includes(pid));

async function list() {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  const alive = rows.filter(([, , state]) => !state?.startsWith('Z'));
  return alive.map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}

const attempts = 40;
const pauseMs = 50;

/**
 * Removes a folder while processes that have been told to end may still write into it, at the exit of this one. The retries of
 * `rmSync` do not look again what is in a folder.
 */
export function removeInUse(directory: string): void {
  for (let left = attempts; ; left -= 1) {
    try {
      rmSync(directory, { recursive: true, force: true });
      return;
    } catch (error) {
      if (left === 0) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
}

interface Changeable {
  readonly timing: typeof timing;
  readonly reading: typeof reading;
  readonly failover: typeof failover;
  readonly backlogLimits: typeof backlogLimits;
  readonly invocationLimits: typeof invocationLimits;
  readonly secretFiles: typeof secretFiles;
}

const preload = pathToFileURL(join(import.meta.dirname, 'constantsPreload.js')).href;

/**
 * For the environment of a process of the service or the front door: some of its constants have these values instead. The
 * programs themselves have no switch for that (D291).
 */
export const withConstants = (changes: { readonly [Name in keyof Changeable]?: Partial<Changeable[Name]> }) => ({
  NODE_OPTIONS: `--import=${preload}?${encodeURIComponent(JSON.stringify(changes))}`,
});

/** Is written to standard output before a message ends the process. */
export const fatalLine = 'a fatal message ends the process';

/**
 * For the environment of a service process: a request whose correlation id begins with `fatal` ends the process when a
 * backend is called for it, or some time after that. The service itself knows nothing of that.
 */
export const fatalAfter = (ms: number) => {
  const program = `
import { subscribe } from 'node:diagnostics_channel';
import { writeSync } from 'node:fs';
function end() {
  writeSync(1, ${JSON.stringify(`${JSON.stringify({ msg: fatalLine })}\n`)});
  process.abort();
}
subscribe('undici:request:create', ({ request }) => {
  if (!/"x-correlation-id","fatal/.test(JSON.stringify(request.headers))) return;
  if (${ms} === 0) end();
  else setTimeout(end, ${ms});
});`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` };
};

export const fatalMessages = fatalAfter(0);

/** What a program is asked for on its command line; or it ends, and says how it is used and, if so, what is wrong. */
export function optionsOrEnd<Options>(
  readOptions: (args: readonly string[]) => Options | undefined,
  usage: string,
): Options {
  try {
    const options = readOptions(process.argv.slice(2));
    if (options) return options;
    process.stdout.write(usage);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    process.exit(2);
  }
}
