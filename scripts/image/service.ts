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

/** For the answer to a message, on a busy machine. */
export const waitMs = 60_000;

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
export async function withDevice<T>({ sandbox }: Stage, id: string, act: (device: Device) => Promise<T>): Promise<T> {
  const device = await sandbox.connect(id);
  try {
    return await act(device);
  } finally {
    await device.close();
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
