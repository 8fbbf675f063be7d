import { readFileSync, writeSync } from 'node:fs';

/**
 * Loaded into a process of the service: its clock is ahead of that of the machine by as many milliseconds as a file says, which is
 * read at the start and at each SIGWINCH. A line on standard output says so, too.
 */

const { CLOCK_AHEAD_FILE: file = '' } = process.env;
const machineNow = Date.now;
let aheadMs = 0;

function set() {
  aheadMs = Number(readFileSync(file, 'utf8'));
  writeSync(1, `${JSON.stringify({ msg: 'clock set', clockAheadMs: aheadMs })}\n`);
}

const now = () => machineNow() + aheadMs;
Date.now = now;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
});
process.on('SIGWINCH', set);
set();
