import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counters, FaultRequest } from 'iot-hub-emulator';
import { startChild } from '../processes/child.ts';
import type { HubUnderLoadDescription } from '../processes/hubUnderLoad.ts';

/** What the hub has used: CPU in microseconds, memory in bytes. */
export interface Usage {
  cpu: number;
  rss: number;
  counters: Counters;
}

/** A hub in a process of its own, to be put under load. */
export interface HubUnderLoad extends HubUnderLoadDescription {
  usage(): Promise<Usage>;
  ask(fault: FaultRequest): Promise<void>;
  stop(): Promise<void>;
}

/** Start one with so many devices, `device-0` and on. */
export async function startUnderLoad(devices: number, persist = false): Promise<HubUnderLoad> {
  const directory = await mkdtemp(join(tmpdir(), 'hub-load-'));
  const { described, call, stop } = await startChild<HubUnderLoadDescription>('./hubUnderLoad.ts', [
    directory,
    String(devices),
    persist ? 'persist' : 'memory',
  ]);
  return {
    ...described,
    usage: () => call('usage'),
    async ask(fault) {
      const response = await fetch(`${described.adminUrl}/faults`, { method: 'POST', body: JSON.stringify(fault) });
      if (!response.ok) throw new Error(await response.text());
    },
    async stop() {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
