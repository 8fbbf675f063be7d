import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Counters, FaultRequest, HubPorts } from 'iot-hub-emulator';
import { fork } from '../../../sandbox/service/endWithUs.ts';
import { launcher } from '../../../sandbox/state/directories.ts';

/** What the hub has used: CPU in microseconds, memory in bytes. */
export interface Usage {
  cpu: number;
  rss: number;
  counters: Counters;
}

/** A hub in a process of its own, to be put under load. */
export interface HubUnderLoad {
  name: string;
  ports: HubPorts;
  caFile: string;
  /** Connection strings. */
  service: string;
  events: string;
  usage(): Promise<Usage>;
  ask(fault: FaultRequest): Promise<void>;
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL('./hubProcess.ts', import.meta.url));

/** Start one with so many devices, `device-0` and on. */
export async function startUnderLoad(devices: number, persist = false): Promise<HubUnderLoad> {
  const directory = await mkdtemp(join(tmpdir(), 'hub-load-'));
  const args = [program, directory, String(devices), persist ? 'persist' : 'memory'];
  const child = fork(launcher, args, { execArgv: ['--expose-gc'] });
  const [described] = await once(child, 'message');
  return {
    ...described,
    async usage() {
      child.send('usage');
      const [usage] = await once(child, 'message');
      return usage;
    },
    async ask(fault) {
      const response = await fetch(`${described.adminUrl}/faults`, { method: 'POST', body: JSON.stringify(fault) });
      if (!response.ok) throw new Error(await response.text());
    },
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'exit');
      await rm(directory, { recursive: true, force: true });
    },
  };
}
