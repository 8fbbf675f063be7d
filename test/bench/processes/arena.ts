import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Effects } from './backends.ts';
import type { Load, Served } from './hub.ts';
import type { ProgramOptions, RunningProgram } from './program.ts';
import { openStage, type Stage } from './stage.ts';
import { untilAnswered } from './untilAnswered.ts';
import { cpuOf, mainThreadBusy, residentOf } from './usage.ts';

/** A program under test with a hub and backends of its own, each in a process of its own. */
export interface Arena {
  readonly program: RunningProgram;
  readonly hub: Stage['hub'];
  /** Sends a load, waits until it is served, and says what that cost. */
  run(load: Load): Promise<Cost>;
  /** Waits until the load that was sent last is served. */
  served(load: Load): Promise<Served>;
  /** Answers of the backends take so long from now on, in ms. */
  delay(ms: number): Promise<void>;
  /** Calls for this device are not answered any more. */
  hang(device: string): Promise<void>;
  effects(): Promise<Effects>;
  stop(): Promise<void>;
}

/** What a load cost. CPU in µs for each message, memory in MB. */
export interface Cost extends Served {
  readonly messages: number;
  readonly cpu: number;
  /** Calls of the backends for each message. */
  readonly calls: number;
  readonly hubCpu: number;
  readonly backendsCpu: number;
  /** Allocated on the heap, in bytes for each message. */
  readonly allocated: number;
  readonly resident: number;
  /** Shares of the time in which the main thread of each had nothing to do: waiting for a core does not count. */
  readonly idle: Readonly<Record<'program' | 'hub' | 'backends', number>>;
}

export interface ArenaOptions extends ProgramOptions {
  readonly devices: number;
  readonly partitions?: number;
}

export async function openArena({ devices, partitions = 4, ...options }: ArenaOptions): Promise<Arena> {
  const stage = await openStage(devices, partitions);
  const { hub, backends } = stage;
  const program = await stage.start(options).catch(async (error) => {
    await stage.close();
    throw error;
  });
  const { pid, logFile } = program;

  async function untilServed({ kind }: Load): Promise<void> {
    await untilAnswered(hub, program);
    if (kind === 'telemetry') await untilQuiet(pid);
  }

  const served = async (load: Load) => {
    await untilServed(load);
    return hub.call<Served>('served');
  };

  return {
    program,
    hub,
    served,
    async run(load) {
      const pids = [pid, hub.pid, backends.pid];
      const logged = statSync(logFile).size;
      const called = await backends.call<number>('calls');
      const spent = await spentIn(pids, async () => {
        await hub.call('send', load);
        await untilServed(load);
      });
      const [program = nothing, ofHub = nothing, ofBackends = nothing] = spent;
      const result = await hub.call<Served>('served');
      const { messages } = load;
      return {
        ...result,
        messages,
        cpu: program.cpu / messages,
        calls: ((await backends.call<number>('calls')) - called) / messages,
        hubCpu: ofHub.cpu / messages,
        backendsCpu: ofBackends.cpu / messages,
        allocated: allocatedIn(readFileSync(logFile).subarray(logged).toString()) / messages,
        resident: residentOf(pid),
        idle: { program: program.idle, hub: ofHub.idle, backends: ofBackends.idle },
      };
    },
    delay: (ms) => backends.call('delay', ms),
    hang: (device) => backends.call('hang', device),
    effects: () => backends.call('effects'),
    stop: () => stage.close(),
  };
}

const nothing = { cpu: 0, idle: 1 };

/** CPU of each process in µs while this is done, and the share of that time for which its main thread was idle. */
async function spentIn(pids: readonly number[], work: () => Promise<void>): Promise<(typeof nothing)[]> {
  const began = performance.now();
  const before = pids.map((pid) => ({ cpu: cpuOf(pid), busy: mainThreadBusy(pid) }));
  await work();
  const wall = (performance.now() - began) * 1000;
  return pids.map((pid, index) => {
    const { cpu, busy } = before[index] ?? { cpu: 0, busy: 0 };
    return { cpu: cpuOf(pid) - cpu, idle: Math.max(0, 1 - (mainThreadBusy(pid) - busy) / wall) };
  });
}

/** Until the program has used next to no CPU for a while. */
export async function untilQuiet(pid: number): Promise<void> {
  for (let last = cpuOf(pid); ; ) {
    await sleep(100);
    const now = cpuOf(pid);
    if (now - last < 5_000) return;
    last = now;
  }
}

/** V8 says at each collection what was allocated since the one before. */
function allocatedIn(log: string): number {
  let bytes = 0;
  for (const [, allocated] of log.matchAll(/ allocated=(\d+)/g)) bytes += Number(allocated);
  return bytes;
}
