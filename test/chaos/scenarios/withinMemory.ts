import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where control groups are made, of version 1 and of version 2, and the file that has the limit. */
const places = [
  { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes' },
  { root: '/sys/fs/cgroup', limit: 'memory.max' },
] as const;

/** What V8 takes for its heap of 1 GiB: half, for programs without a limit. */
const heapShare = 1 / 2;

/**
 * A control group of its own, which ends the process beyond the limit; where this machine allows none, only V8 is told what it would find
 * in one, and somebody has to look at what the process takes.
 */
export function limitMemory(name: string, bytes: number) {
  for (const { root, limit } of places) {
    const group = join(root, `${name}-${process.pid}`);
    try {
      mkdirSync(group);
    } catch {
      continue;
    }
    try {
      writeFileSync(join(group, limit), String(bytes));
      const procs = join(group, 'cgroup.procs');
      return {
        command: (command: readonly string[]) => [
          'sh',
          '-c',
          'echo $$ > "$0" && exec "$@"',
          procs,
          process.execPath,
          ...command.slice(1),
        ],
        words: 'by a control group',
        remove: () => rmdirSync(group),
      };
    } catch {
      rmdirSync(group);
    }
  }
  const flag = `--max-old-space-size=${Math.floor((bytes * heapShare) / 2 ** 20)}`;
  return {
    command: ([program = '', ...rest]: readonly string[]) => [program, flag, ...rest],
    words: 'by the heap of V8 alone',
    remove() {},
  };
}
