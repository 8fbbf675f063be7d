import { promisify } from 'node:util';
import { execFile } from '../../sandbox/service/endWithUs.ts';

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
export async function running(pids: readonly number[]): Promise<readonly number[]> {
  return (await list()).map(({ pid }) => pid).filter((pid) => pids.includes(pid));
}

async function list() {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,stat=']);
  const rows = stdout
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/\s+/));
  const alive = rows.filter(([, , state]) => !state?.startsWith('Z'));
  return alive.map(([pid, parent]) => ({ pid: Number(pid), parent: Number(parent) }));
}
