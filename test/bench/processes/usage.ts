import { readdirSync, readFileSync } from 'node:fs';

/** What a process has used, read from /proc (Linux), so that it is not disturbed by being measured. */

/** CPU of all its threads in µs, user and system together, those that have ended not included. */
export const cpuOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + scheduled(pid, thread).ran, 0);

/** For how long its main thread has run or waited for a core, in µs: the rest of the time it had nothing to do (D370). */
export function mainThreadBusy(pid: number): number {
  const { ran, waited } = scheduled(pid, String(pid));
  return ran + waited;
}

function scheduled(pid: number, thread: string): { readonly ran: number; readonly waited: number } {
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ').map(Number);
  return { ran: ran / 1000, waited: waited / 1000 };
}

/** Memory in MB: what it has now, or the most that it ever had. */
export function residentOf(pid: number, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kilobytes = '0'] = new RegExp(`${what}:\\s+(\\d+)`).exec(status) ?? [];
  return Number(kilobytes) / 1024;
}
