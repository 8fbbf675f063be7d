import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Sandbox } from '../../../sandbox/sandbox.ts';
import { appendEvent } from '../../support/events.ts';
import { inSandbox } from '../inSandbox.ts';
import { residentOf } from '../processes/program.ts';
import { alone, anew, type Context } from './workload.ts';

/**
 * How much memory the service takes with backends that take their time, and a backlog behind it or many small messages that
 * inflate to the limit, among which others are to be served. What counts is the most that it ever has.
 */

const delayMs = 50;

const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);

interface Watch {
  readonly build: string;
  readonly seconds: number;
  readonly devices: readonly string[];
  readonly fill: (partitions: Sandbox['hub']['partitions']) => void;
  /** Takes a device for which a backend was called with PUT. */
  readonly onPut: (device: string, seconds: number) => void;
  /** How many messages are left; the watch ends at none. */
  readonly left: () => number;
  readonly progress: Context['progress'];
}

/** The most memory that there was, in MB. */
const watch = ({ build, seconds, devices, fill, onPut, left, progress }: Watch): Promise<number> =>
  inSandbox(build, async ({ backends, hub, startService }) => {
    for (const device of devices) backends.world.principals.createDevice(device, 'acme');
    backends.faults.add({ backend: 'principalManager', delayMs });
    fill(hub.partitions);
    const { pid } = await startService();
    const began = performance.now();
    const passed = () => (performance.now() - began) / 1_000;
    let since = 0;
    while (left() > 0 && passed() < seconds) {
      await sleep(100);
      const calls = backends.calls({ since });
      since = backends.journal.last;
      for (const { method, deviceId = '' } of calls) if (method === 'PUT') onPut(deviceId, passed());
      progress(`${residentOf(pid).toFixed(0)} MB, ${left()} left`);
    }
    return residentOf(pid, 'VmHWM');
  });

function append(partitions: Sandbox['hub']['partitions'], place: number, device: string, body: Buffer, more = {}) {
  const properties = { msgType: 'action', action: 'identity.update', version: '2', correlationId: device, ...more };
  appendEvent(partitions[place % partitions.length], { device, properties, body });
}

const bodyOf = (bytes: number) => Buffer.from(JSON.stringify({ publicKey: 'k'.repeat(bytes) }));

const mostMemory = 'most memory, MB';

export const memory = alone({
  name: 'memory',
  about: `a minute with a backlog of messages of 1 KiB from 1,000 devices, and calls that take ${delayMs} ms`,
  isCold: true,
  most: 1,
  goals: { [mostMemory]: { atMost: 250 } },
  parts: (context) => ({ '': anew((build) => underBacklog(build, context)) }),
});

/** It need not come to the end of the backlog. */
async function underBacklog(build: string, { quick, progress }: Context) {
  const devices = named('load', 1_000);
  const messages = quick ? 10_000 : 100_000;
  const body = bodyOf(1_000);
  let left = messages;
  const most = await watch({
    ...{ build, devices, seconds: quick ? 10 : 60, progress, left: () => left },
    fill(partitions) {
      for (let index = 0; index < messages; index += 1) {
        const place = index % devices.length;
        append(partitions, place, devices[place] ?? '', body, { correlationId: String(index) });
      }
    },
    onPut() {
      left -= 1;
    },
  });
  return { [mostMemory]: most };
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

export const bombs = alone({
  name: 'bombs',
  about:
    'compressed messages of 4 KB, which inflate to 512 KiB, of 1,000 devices, and small ones of 100 others among them',
  isCold: true,
  most: 1,
  goals: { [mostMemory]: { atMost: 300 } },
  parts: (context) => ({ '': anew((build) => underBombs(build, context)) }),
});

/** @throws Error when a message that should reach the backend has not */
async function underBombs(build: string, { quick, progress }: Context) {
  const [bombs, others] = [named('bomb', quick ? 100 : 1_000), named('other', quick ? 10 : 100)];
  const left = new Set([...bombs.filter((_, index) => !isRefused(index)), ...others]);
  let [last, lastOther] = [0, 0];
  const most = await watch({
    ...{ build, devices: [...bombs, ...others], seconds: 300, progress, left: () => left.size },
    fill(partitions) {
      for (const [index, device] of bombs.entries()) {
        const bomb = gzipSync(texts[index % texts.length]?.(randomBytes(2_400).toString('base64')) ?? '');
        append(partitions, index, device, bomb, { 'content-encoding': 'gzip' });
        const other = index % 10 === 0 ? others[index / 10] : undefined;
        if (other !== undefined) append(partitions, index, other, bodyOf(200));
      }
    },
    onPut(device, seconds) {
      if (!left.delete(device)) return;
      last = seconds;
      if (device.startsWith('other')) lastOther = seconds;
    },
  });
  if (left.size > 0) throw new Error(`${left.size} messages have not come to the backend`);
  return { [mostMemory]: most, 'all handled after, s': last, 'all small ones after, s': lastOther };
}
