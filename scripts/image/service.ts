import { readFile } from 'node:fs/promises';
import type { Device } from '../../sandbox/device/device.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import type { ServiceProcess } from '../../sandbox/service/process.ts';
import type { Printer } from '../../sandbox/terminal/print.ts';
import type { Container } from './container.ts';
import type { Image } from './followDockerfile.ts';

/** The service of an image, and the hub, backends and devices around it. */
export interface Stage {
  readonly image: Image;
  readonly container: Container;
  readonly sandbox: Sandbox;
  readonly environment: Readonly<Record<string, string>>;
  readonly printer: Printer;
  readonly signal: AbortSignal;
}

/** The longest that a timer can run: the stage’s signal ends each wait before. */
export const forever = 2 ** 31 - 1;

export function start({ image, container, sandbox, environment }: Stage, more = {}): Promise<ServiceProcess> {
  const { readyzUrl, logFile } = sandbox.state.service;
  return container.start(image.command, { environment: { ...environment, ...more }, readyzUrl, logFile });
}

/** @throws Error when it does not end with 0 */
export async function stop(service: ServiceProcess): Promise<void> {
  await service.stop();
  const { code, reason } = await service.exited;
  if (code !== 0) throw new Error(`The program did not stop cleanly: ${reason}`);
}

/** Has a device connected while something is done with it. */
export async function withDevice<T>(
  { sandbox, signal }: Stage,
  id: string,
  act: (device: Device) => Promise<T>,
): Promise<T> {
  const device = await sandbox.connect(id);
  try {
    return await until(signal, act(device), () => device.close());
  } finally {
    await device.close();
  }
}

/** Waits for work; cuts it off when the signal comes. */
async function until<T>(signal: AbortSignal, work: Promise<T>, cutOff: () => Promise<void>): Promise<T> {
  signal.addEventListener('abort', cutOff);
  try {
    if (signal.aborted) await cutOff();
    return await work;
  } finally {
    signal.removeEventListener('abort', cutOff);
  }
}

/** Lines of the log about handled messages, of all processes so far. */
export async function handledLines({ sandbox }: Stage): Promise<string[]> {
  const text = await readFile(sandbox.state.service.logFile, 'utf8');
  return text.split('\n').filter((line) => line.includes('"msg":"handled"'));
}

export async function residentMegabytes(pid: number): Promise<number> {
  return Number(/VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
