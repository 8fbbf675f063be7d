import { readdirSync, readFileSync } from 'node:fs';

/** What a process has used, read from /proc (Linux), so that it is not disturbed by being measured. */

/** CPU of all its threads in µs, user and system together, those that have ended not included. */
export function cpuOf(pid: number): number {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]);
  }
  return nanoseconds / 1000;
}

/** Memory in MB: what it has now, or the most that it ever had. */
export function residentOf(pid: number, what: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const [, kilobytes = '0'] = new RegExp(`${what}:\\s+(\\d+)`).exec(status) ?? [];
  return Number(kilobytes) / 1024;
}
