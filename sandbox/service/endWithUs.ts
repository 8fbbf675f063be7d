import { type ChildProcess, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

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

/**
 * Has a process end when this one does, also when this one is killed or the other one hangs.
 * @param whole the process leads a group (`detached`), all of which ends
 * @returns the process
 */
export function endWithUs<Child extends ChildProcess>(child: Child, whole = false): Child {
  if (child.pid === undefined) return child;
  const id = whole ? -child.pid : child.pid;
  watcher ??= startWatcher();
  watcher.write(`+ ${id}\n`);
  child.once('exit', () => watcher?.write(`- ${id}\n`));
  return child;
}

function startWatcher(): Writable {
  // In a session of its own: what ends our group must not end it.
  const shell = spawn('/bin/sh', ['-c', watch], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
  shell.on('error', () => {}); // without a shell they end as they do without us
  shell.stdin.on('error', () => {});
  shell.unref();
  return shell.stdin;
}
