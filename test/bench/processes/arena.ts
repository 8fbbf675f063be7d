import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../programs/environment.ts';
import type { Effects } from './backends.ts';
import { startChild } from './child.ts';
import type { Load, Served } from './hub.ts';
import {
  cpuOf,
  mainThreadBusy,
  type ProgramOptions,
  type RunningProgram,
  residentOf,
  startProgram,
} from './program.ts';

type HubDescription = Omit<Environment, 'partitions' | 'backendsUrl'> & { readonly caFile: string };

/** A hub and backends, each in a process of its own: what a program under test needs. */
export async function openStage(devices: number, partitions: number) {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  await mkdir(join(directory, 'hub'));
  const args = [join(directory, 'hub'), String(devices), String(partitions)];
  const hub = await startChild<HubDescription>('./hub.ts', args);
  const backends = await startChild<{ port: number }>('./backends.ts', []);
  const place = { ...hub.described, partitions, backendsUrl: `http://127.0.0.1:${backends.described.port}` };
  const programs: RunningProgram[] = [];
  return {
    ...{ hub, backends },
    /**
     * @param home the folder of its files and log, below that of the stage; programs with the same one follow each other
     * @throws Error when it ends before it is ready
     */
    async start(options: ProgramOptions, home = 'program') {
      await mkdir(join(directory, home), { recursive: true });
      const program = await startProgram(options, place, hub.described.caFile, join(directory, home));
      programs.push(program);
      return program;
    },
    async close() {
      await Promise.all(programs.map((program) => program.kill()));
      await Promise.all([hub.stop(), backends.stop()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Without any progress for so long the program is taken for stuck: longer than another instance's ownership lasts. */
const stuckMs = 90_000;

/**
 * Until every reply to what was sent is here; where none is due, until every message has been handed over.
 * @param onProgress called with how many replies or messages that were, whenever there are more
 * @throws Error with the end of its log when the program has ended, or nothing has happened for a long time
 */
export async function untilAnswered(
  hub: Stage['hub'],
  { requireAlive, logFile }: RunningProgram,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  let [seen, seenAt] = [0, performance.now()];
  for (;;) {
    requireAlive();
    const { done, isAll } = await hub.call<{ done: number; isAll: boolean }>('progress');
    if (done !== seen) {
      [seen, seenAt] = [done, performance.now()];
      onProgress(done);
    } else if (performance.now() - seenAt > stuckMs) {
      throw new Error(`nothing has happened for ${stuckMs / 1000} s:\n${readFileSync(logFile, 'utf8').slice(-3_000)}`);
    }
    if (isAll) return;
    await sleep(20);
  }
}

export interface Cost extends Served {
  readonly messages: number;
  readonly cpu: number;
  readonly calls: number;
  readonly resident: number;
  /** Shares of the time in which the main thread of each had nothing to do: waiting for a core does not count. */
  readonly idle: Readonly<Record<'program' | 'hub' | 'backends', number>>;
}

export interface ArenaOptions extends ProgramOptions {
  readonly devices: number;
  readonly partitions?: number;
}

/** A program under test with a hub and backends of its own, each in a process of its own. */
export async function openArena({ devices, partitions = 4, ...options }: ArenaOptions) {
  const stage = await openStage(devices, partitions);
  const { hub, backends } = stage;
  const program = await stage.start(options).catch(async (error) => {
    await stage.close();
    throw error;
  });
  const { pid } = program;
  const pids = [pid, hub.pid, backends.pid];

  return {
    /** Sends a load, waits until it is served, and says what that cost. */
    async run(load: Load): Promise<Cost> {
      const called = await backends.call<number>('calls');
      const [began, before, busy] = [performance.now(), cpuOf(pid), pids.map(mainThreadBusy)];
      await hub.call('send', load);
      await untilAnswered(hub, program);
      if (load.kind === 'telemetry') await untilQuiet(pid);
      const cpu = cpuOf(pid) - before;
      const wall = (performance.now() - began) * 1000;
      const [ofProgram = 1, ofHub = 1, ofBackends = 1] = pids.map((one, index) =>
        Math.max(0, 1 - (mainThreadBusy(one) - (busy[index] ?? 0)) / wall),
      );
      const { messages } = load;
      return {
        ...(await hub.call<Served>('served')),
        messages,
        cpu: cpu / messages,
        calls: ((await backends.call<number>('calls')) - called) / messages,
        resident: residentOf(pid),
        idle: { program: ofProgram, hub: ofHub, backends: ofBackends },
      };
    },
    delay: (ms: number) => backends.call<void>('delay', ms),
    effects: () => backends.call<Effects>('effects'),
    stop: stage.close,
  };
}

export type Arena = Awaited<ReturnType<typeof openArena>>;

/** Until the program has used next to no CPU for a while. */
export async function untilQuiet(pid: number): Promise<void> {
  for (let last = cpuOf(pid); ; ) {
    await sleep(100);
    const now = cpuOf(pid);
    if (now - last < 5_000) return;
    last = now;
  }
}
