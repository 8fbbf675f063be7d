import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { appendEvent } from '../support/events.ts';
import { inSandbox, valuesOrHelp } from './inSandbox.ts';
import { residentOf } from './processes/program.ts';

/**
 * How much memory the service takes with backends that take their time, and a backlog behind it or many small messages that
 * inflate to the limit, among which others are to be served. What counts is the most that it ever has. Linux only: memory is
 * read from /proc.
 */

const loads = {
  memory: {
    defaults: { messages: '100000', devices: '1000', bytes: '1024', delay: '50', seconds: '60', limit: '250' },
    usage: `Usage: npm run bench -- memory [options]

  --messages N   in the hub when the service starts (100000)
  --devices N    that sent them, in turn (1000); with 1 nearly all wait
  --bytes N      of each message, about (1024)
  --delay MS     that each call of a backend takes (50)
  --seconds N    to watch (60)
  --limit MB     more resident memory is a failure (250)
`,
  },
  bombs: {
    defaults: { devices: '1000', others: '100', delay: '50', seconds: '300', limit: '300' },
    usage: `Usage: npm run bench -- bombs [options]

  --devices N    that send one compressed message of 4 KB each, which inflates to 512 KiB (1000)
  --others N     that send one small message each, spread among them (100)
  --delay MS     that each call of a backend takes (50)
  --seconds N    after which it is a failure that messages are left (300)
  --limit MB     more resident memory is a failure (300)
`,
  },
};

const say = (line: string) => process.stdout.write(`${line}\n`);
const named = (name: string, count: string) => Array.from({ length: Number(count) }, (_, index) => `${name}-${index}`);

interface Watch {
  readonly delay: string;
  readonly seconds: string;
  readonly limit: string;
  readonly devices: readonly string[];
  readonly fill: (partitions: Sandbox['hub']['partitions']) => void;
  /** Takes a device for which a backend was called with PUT. */
  readonly onPut: (device: string, seconds: number) => void;
  /** How many messages are left; the watch ends at none. */
  readonly left: () => number;
}

/** Prints memory as it goes; the program fails when the most there was is above the limit. */
const watch = ({ delay, seconds, limit, devices, fill, onPut, left }: Watch): Promise<void> =>
  inSandbox(async ({ backends, hub, startService }) => {
    for (const device of devices) backends.world.principals.createDevice(device, 'acme');
    backends.faults.add({ backend: 'principalManager', delayMs: Number(delay) });
    fill(hub.partitions);
    say(`${left()} messages of ${devices.length} devices wait in the hub; each call takes ${delay} ms`);
    const { pid } = await startService();
    const began = performance.now();
    const passed = () => (performance.now() - began) / 1_000;
    let since = 0;
    for (let nextWord = 5; left() > 0 && passed() < Number(seconds); ) {
      await sleep(100);
      const calls = backends.calls({ since });
      since = backends.journal.last;
      for (const { method, deviceId = '' } of calls) if (method === 'PUT') onPut(deviceId, passed());
      if (passed() < nextWord) continue;
      nextWord += 5;
      say(`${passed().toFixed(0).padStart(4)} s  ${residentOf(pid).toFixed(0)} MB  ${left()} left`);
    }
    const peak = Math.round(residentOf(pid, 'VmHWM'));
    say(`most memory: ${peak} MB (limit ${limit} MB) after ${passed().toFixed(1)} s`);
    if (peak > Number(limit)) process.exitCode = 1;
  });

function append(partitions: Sandbox['hub']['partitions'], place: number, device: string, body: Buffer, more = {}) {
  const properties = { msgType: 'action', action: 'identity.update', version: '2', correlationId: device, ...more };
  appendEvent(partitions[place % partitions.length], { device, properties, body });
}

const bodyOf = (bytes: number) => Buffer.from(JSON.stringify({ publicKey: 'k'.repeat(bytes) }));

/** It need not come to the end of the backlog. */
export function underBacklog(): Promise<void> {
  const { messages, bytes, ...values } = valuesOrHelp(loads.memory.defaults, loads.memory.usage);
  const devices = named('load', values.devices);
  const body = bodyOf(Math.max(1, Number(bytes) - 20));
  let left = Number(messages);
  return watch({
    ...{ ...values, devices, left: () => left },
    fill(partitions) {
      for (let index = 0; index < Number(messages); index += 1) {
        const place = index % devices.length;
        append(partitions, place, devices[place] ?? '', body, { correlationId: String(index) });
      }
    },
    onPut() {
      left -= 1;
    },
  });
}

const inflated = 512 * 1024;

/** Bodies that inflate to the limit: two that are in work as long as the backend takes, two that are refused. */
const texts: readonly ((padding: string) => string)[] = [
  (padding) => filled(`{"padding":"${padding}","publicKey":"`, 'k', '"}'),
  (padding) => filled(`{"padding":"${padding}€","publicKey":"`, 'k', '"}'),
  (padding) => filled(`{"padding":"${padding}","a":[{}`, ',{}', ']}'),
  (padding) => filled(`{"padding":"${padding}","a":`, '[', ''),
];
const isRefused = (index: number) => index % texts.length >= 2;

function filled(begin: string, unit: string, end: string): string {
  const room = inflated - Buffer.byteLength(begin) - Buffer.byteLength(end);
  return begin + unit.repeat(Math.floor(room / unit.length)) + end;
}

/** Every message that should reach the backend has to. */
export async function underBombs(): Promise<void> {
  const values = valuesOrHelp(loads.bombs.defaults, loads.bombs.usage);
  const [bombs, others] = [named('bomb', values.devices), named('other', values.others)];
  const left = new Set([...bombs.filter((_, index) => !isRefused(index)), ...others]);
  let lastOther = 0;
  await watch({
    ...{ ...values, devices: [...bombs, ...others], left: () => left.size },
    fill(partitions) {
      const each = Math.max(1, Math.round(bombs.length / Math.max(1, others.length)));
      const waiting = [...others];
      for (const [index, device] of bombs.entries()) {
        const bomb = gzipSync(texts[index % texts.length]?.(randomBytes(2_400).toString('base64')) ?? '');
        append(partitions, index, device, bomb, { 'content-encoding': 'gzip' });
        const other = index % each === 0 ? waiting.shift() : undefined;
        if (other !== undefined) append(partitions, index, other, bodyOf(200));
      }
      for (const other of waiting) append(partitions, 0, other, bodyOf(200));
    },
    onPut(device, seconds) {
      if (left.delete(device) && device.startsWith('other')) lastOther = seconds;
    },
  });
  say(`the last of the small messages came to the backend after ${lastOther.toFixed(1)} s; left: ${left.size}`);
  if (left.size > 0) process.exitCode = 1;
}
