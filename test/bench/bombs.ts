import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { appendEvent } from '../support/events.ts';
import { inSandbox } from './inSandbox.ts';
import { residentOf } from './processes/usage.ts';
import { valuesOrHelp } from './values.ts';

/**
 * How much memory the service takes when many devices send small messages that inflate to the limit, and whether others
 * are served meanwhile: `npm run bench -- bombs`. Linux only: memory is read from /proc.
 */

const usage = `Usage: npm run bench -- bombs [options]

  --devices N    that send one compressed message of 4 KB each, which inflates to 512 KiB (1000)
  --others N     that send one small message each, spread among them (100)
  --delay MS     that each call of a backend takes (50)
  --seconds N    after which it is a failure that messages are left (300)
  --limit MB     more resident memory is a failure (300)
`;

const values = valuesOrHelp({ devices: '1000', others: '100', delay: '50', seconds: '300', limit: '300' }, usage);
const say = (line: string) => process.stdout.write(`${line}\n`);
const inflated = 512 * 1024;

/** Bodies that inflate to the limit: two that are in work as long as the backend takes, two that are refused. */
const texts: readonly ((padding: string) => string)[] = [
  (padding) => filled(`{"padding":"${padding}","publicKey":"`, 'k', '"}'),
  (padding) => filled(`{"padding":"${padding}€","publicKey":"`, 'k', '"}'),
  (padding) => filled(`{"padding":"${padding}","a":[{}`, ',{}', ']}'),
  (padding) => filled(`{"padding":"${padding}","a":`, '[', ''),
];
const isRefused = (index: number) => index % texts.length >= 2;

process.exitCode = (await inSandbox(run)) ? 0 : 1;

async function run(sandbox: Sandbox): Promise<boolean> {
  const bombs = named('bomb', Number(values.devices));
  const others = named('other', Number(values.others));
  for (const device of [...bombs, ...others]) sandbox.backends.world.principals.createDevice(device, 'acme');
  sandbox.backends.faults.add({ backend: 'principalManager', delayMs: Number(values.delay) });
  fill(sandbox.hub.partitions, bombs, others);
  say(`${bombs.length} bombs and ${others.length} small messages wait in the hub; each call takes ${values.delay} ms`);
  const service = await sandbox.startService();
  return watch(sandbox, service.pid, bombs, others);
}

function named(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}-${index}`);
}

function filled(begin: string, unit: string, end: string): string {
  const room = inflated - Buffer.byteLength(begin) - Buffer.byteLength(end);
  return begin + unit.repeat(Math.floor(room / unit.length)) + end;
}

function fill(partitions: Sandbox['hub']['partitions'], bombs: readonly string[], others: readonly string[]): void {
  const small = Buffer.from(JSON.stringify({ publicKey: 'k'.repeat(200) }));
  const each = Math.max(1, Math.round(bombs.length / Math.max(1, others.length)));
  const waiting = [...others];
  for (const [index, device] of bombs.entries()) {
    const padding = randomBytes(2_400).toString('base64');
    const bomb = gzipSync(texts[index % texts.length]?.(padding) ?? '');
    append(partitions, index, device, bomb, { 'content-encoding': 'gzip' });
    const other = index % each === 0 ? waiting.shift() : undefined;
    if (other !== undefined) append(partitions, index, other, small, {});
  }
  for (const other of waiting) append(partitions, 0, other, small, {});
}

function append(
  partitions: Sandbox['hub']['partitions'],
  place: number,
  device: string,
  body: Buffer,
  properties: Readonly<Record<string, string>>,
): void {
  appendEvent(partitions[place % partitions.length], {
    device,
    properties: { msgType: 'action', action: 'identity.update', version: '2', correlationId: device, ...properties },
    body,
  });
}

/** Until every message that should reach the backend has; says how long each kind took, and how much memory. */
async function watch(
  { backends }: Sandbox,
  pid: number,
  bombs: readonly string[],
  others: readonly string[],
): Promise<boolean> {
  const left = new Set([...bombs.filter((_, index) => !isRefused(index)), ...others]);
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  let lastOther = 0;
  let since = 0;
  let nextWord = 5;
  while (left.size > 0 && seconds() < Number(values.seconds)) {
    await sleep(100);
    const calls = backends.calls({ since });
    since = backends.journal.last;
    for (const { method, deviceId = '' } of calls) {
      if (method !== 'PUT' || !left.delete(deviceId)) continue;
      if (deviceId.startsWith('other')) lastOther = seconds();
    }
    if (seconds() < nextWord) continue;
    nextWord += 5;
    say(`${seconds().toFixed(0).padStart(4)} s  ${residentOf(pid).toFixed(0)} MB  ${left.size} left`);
  }
  const peak = Math.round(residentOf(pid, 'VmHWM'));
  say(
    `the last of the small messages came to the backend after ${lastOther.toFixed(1)} s, the last bomb after ${seconds().toFixed(1)} s`,
  );
  say(`most memory: ${peak} MB (limit ${values.limit} MB); left: ${left.size}`);
  return left.size === 0 && peak <= Number(values.limit);
}
