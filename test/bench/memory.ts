import { readFileSync } from 'node:fs';

/** Memory of a process in MB, as Linux tells it: what is resident, or the most that ever was (`VmHWM`). */
export function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const [, kilobytes = '0'] = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}
