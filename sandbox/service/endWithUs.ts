import childProcess, { type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';

// `spawn`, `fork` and `execFile` of Node.js, for programs that end with this process, also when it is killed.

/**
 * Reads the ids of processes that start (`+ 12`) and end (`- 12`). Its input ends when this process does, in whatever way:
 * then it kills the processes that still run.
 */
const watch = `
all=
while read -r sign pid; do
  left=
  for one in $all; do if [ "$one" != "$pid" ]; then left="$left $one"; fi; done
  if [ "$sign" = + ]; then left="$left $pid"; fi
  all=$left
done
for one in $all; do kill -s KILL -- "$one"; done`;

let watcher: Writable | undefined;

/** A `detached` process leads a group, all of which ends. */
export const spawn = ((...[program, args, options]: Parameters<typeof childProcess.spawn>) =>
  endWithUs(childProcess.spawn(program, args, options), options)) as typeof childProcess.spawn;

/** A `detached` process leads a group, all of which ends. */
export const fork = ((...[program, args, options]: Parameters<typeof childProcess.fork>) =>
  endWithUs(childProcess.fork(program, args, options), options)) as typeof childProcess.fork;

/** Can be promisified. */
export const execFile = Object.assign(
  (...args: Parameters<typeof childProcess.execFile>) => endWithUs(childProcess.execFile(...args)),
  {
    [promisify.custom](...args: Parameters<typeof runFile>) {
      const running = runFile(...args);
      endWithUs(running.child);
      return running;
    },
  },
) as unknown as typeof childProcess.execFile;

const runFile = promisify(childProcess.execFile);

function endWithUs<Child extends ChildProcess>(child: Child, options: { detached?: boolean | undefined } = {}): Child {
  if (child.pid === undefined) return child;
  const id = options.detached ? -child.pid : child.pid;
  watcher ??= startWatcher();
  watcher.write(`+ ${id}\n`);
  child.once('exit', () => watcher?.write(`- ${id}\n`));
  return child;
}

function startWatcher(): Writable {
  // In a session of its own: what ends our group must not end it.
  const shell = childProcess.spawn('/bin/sh', ['-c', watch], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  });
  shell.on('error', () => {}); // without a shell they end as they do without us
  shell.stdin.on('error', () => {});
  shell.unref();
  return shell.stdin;
}
