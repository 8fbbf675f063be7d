import { setTimeout as sleep } from 'node:timers/promises';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { appendEvent } from '../support/events.ts';
import { inSandbox } from './inSandbox.ts';
import { residentOf } from './processes/usage.ts';
import { valuesOrHelp } from './values.ts';

/**
 * How much memory the service takes with a backlog behind it and backends that take their time: `npm run bench -- memory`.
 * It need not come to the end of the backlog; what counts is the most memory it ever has, and that it stays there. Linux
 * only: memory is read from /proc.
 */

const usage = `Usage: npm run bench -- memory [options]

  --messages N   in the hub when the service starts (100000)
  --devices N    that sent them, in turn (1000); with 1 nearly all wait in the spool
  --bytes N      of each message, about (1024)
  --delay MS     that each call of a backend takes (50)
  --seconds N    to watch (60)
  --limit MB     more resident memory is a failure (250)
`;

const values = valuesOrHelp(
  { messages: '100000', devices: '1000', bytes: '1024', delay: '50', seconds: '60', limit: '250' },
  usage,
);
const say = (line: string) => process.stdout.write(`${line}\n`);

process.exitCode = (await inSandbox(run)) <= Number(values.limit) ? 0 : 1;

/** The most resident memory, in MB. */
async function run(sandbox: Sandbox): Promise<number> {
  const devices = Array.from({ length: Number(values.devices) }, (_, index) => `load-${index}`);
  for (const device of devices) sandbox.backends.world.principals.createDevice(device, 'acme');
  sandbox.backends.faults.add({ backend: 'principalManager', delayMs: Number(values.delay) });
  fill(sandbox.hub.partitions, devices);
  say(`${values.messages} messages of ${values.devices} devices wait in the hub; each call takes ${values.delay} ms`);
  const service = await sandbox.startService();
  let calls = 0;
  sandbox.hub.journal.watch(({ kind }) => {
    if (kind === 'http-request') calls += 1;
  });
  return watch(service.pid, () => calls);
}

function fill(partitions: Sandbox['hub']['partitions'], devices: readonly string[]): void {
  const body = Buffer.from(JSON.stringify({ publicKey: 'k'.repeat(Math.max(1, Number(values.bytes) - 20)) }));
  for (let index = 0; index < Number(values.messages); index += 1) {
    const place = index % devices.length;
    appendEvent(partitions[place % partitions.length], {
      device: devices[place],
      properties: { msgType: 'action', action: 'identity.update', version: '2', correlationId: String(index) },
      body,
    });
  }
}

/** Prints memory as it goes, and the most there was. */
async function watch(pid: number, calls: () => number): Promise<number> {
  const most = { resident: 0, atSecond: 0 };
  for (let second = 1; second <= Number(values.seconds); second += 1) {
    const before = calls();
    await sleep(1_000);
    const resident = Math.round(residentOf(pid));
    if (resident > most.resident) Object.assign(most, { resident, atSecond: second });
    if (second % 5 === 0) say(`${String(second).padStart(4)} s  ${resident} MB  ${calls() - before} calls/s`);
  }
  const peak = Math.round(residentOf(pid, 'VmHWM'));
  say(`most: ${peak} MB (limit ${values.limit} MB); seen after ${most.atSecond} s`);
  return peak;
}
