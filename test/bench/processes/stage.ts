import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../programs/environment.ts';
import { type Child, startChild } from './child.ts';
import { type ProgramOptions, type RunningProgram, startProgram } from './program.ts';

/** A hub and backends, each in a process of its own: what a program under test needs. */
export interface Stage {
  readonly hub: Child<HubDescription>;
  readonly backends: Child<{ readonly port: number }>;
  /**
   * @param home the folder of its files and log, below that of the stage; programs with the same one follow each other
   * @throws Error when it ends before it is ready
   */
  start(options: ProgramOptions, home?: string): Promise<RunningProgram>;
  /** Ends what was started, too. */
  close(): Promise<void>;
}

type HubDescription = Omit<Environment, 'partitions' | 'backendsUrl'> & { readonly caFile: string };

export async function openStage(devices: number, partitions: number): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  await mkdir(join(directory, 'hub'));
  const hub = await startChild<HubDescription>('./hub.ts', [
    join(directory, 'hub'),
    String(devices),
    String(partitions),
  ]);
  const backends = await startChild<{ port: number }>('./backends.ts', []);
  const place = { ...hub.described, partitions, backendsUrl: `http://127.0.0.1:${backends.described.port}` };
  const programs: RunningProgram[] = [];
  return {
    hub,
    backends,
    async start(options, home = 'program') {
      await mkdir(join(directory, home), { recursive: true });
      const program = await startProgram(options, place, hub.described.caFile, join(directory, home));
      programs.push(program);
      return program;
    },
    async close() {
      await Promise.all(programs.map((program) => program.end('SIGKILL')));
      await Promise.all([hub.stop(), backends.stop()]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}
