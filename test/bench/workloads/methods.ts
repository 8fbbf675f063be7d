import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../processes/child.ts';
import { type MethodsProgram, startMethodsProgram } from '../processes/methodsProgram.ts';
import type { StageDescription } from '../processes/methodsStage.ts';
import { cpuOf, residentOf } from '../processes/usage.ts';
import { figure, ratios } from '../statistics.ts';
import type { Opener, Workload } from './workload.ts';

const devices = 200;
const inFlight = 32;

/** In each round the programs take turns so often: the machine's speed changes within a round, too. */
const turns = 10;

/** The faster one makes more calls, so that both are measured for seconds. */
const callsOf = (program: 'front door' | 'bare', quick: boolean) =>
  quick ? 100 : { 'front door': 250, bare: 750 }[program];
const heldCallsOf = (quick: boolean) => (quick ? 200 : 1_000);

/** A hub with devices and callers, and what else the programs need. */
async function openStage() {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const stage: Child<StageDescription> = await startChild('./methodsStage.ts', [
    join(directory, 'hub'),
    String(devices),
  ]);
  const programs: MethodsProgram[] = [];
  return {
    async start(...[program, build]: [program: 'front door' | 'bare', build?: string]) {
      const started = await startMethodsProgram(program, stage.described, directory, { build });
      programs.push(started);
      return started;
    },
    /** CPU of so many calls, in µs. */
    async cpuOfCalls({ pid, port }: MethodsProgram, calls: number): Promise<number> {
      const before = cpuOf(pid);
      await stage.call('run', { port, calls, inFlight });
      return cpuOf(pid) - before;
    },
    /** Memory while so many calls are in flight, in MB. */
    async memoryWith({ pid, port }: MethodsProgram, calls: number): Promise<number> {
      await stage.call('hold', { port, calls });
      const resident = residentOf(pid);
      await stage.call('release');
      return resident;
    },
    async close() {
      await Promise.all(programs.map((program) => program.kill()));
      await stage.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The front door of a build. */
const opener =
  (quick: boolean): Opener =>
  async (build) => {
    const stage = await openStage();
    try {
      const door = await stage.start('front door', build);
      const [calls, held] = [turns * callsOf('front door', quick), heldCallsOf(quick)];
      return {
        measure: async () => ({
          'CPU of a call, µs': (await stage.cpuOfCalls(door, calls)) / calls,
          [`memory, ${held} calls in flight, MB`]: await stage.memoryWith(door, held),
        }),
        close: stage.close,
      };
    } catch (error) {
      await stage.close();
      throw error;
    }
  };

export const methods: Workload = {
  name: 'methods',
  about: `remote methods, ${inFlight} in flight, beside a bare fastify handler that calls invokeDeviceMethod`,
  async run({ quick, rounds, progress }) {
    const heldCalls = heldCallsOf(quick);
    const stage = await openStage();
    const programs = new Map<'front door' | 'bare', MethodsProgram>();
    const cpu: Record<'front door' | 'bare', number[]> = { 'front door': [], bare: [] };
    const memory: string[] = [];
    const held: number[] = [];
    try {
      for (const name of ['front door', 'bare'] as const) programs.set(name, await stage.start(name));
      for (let round = 0; round <= rounds; round += 1) {
        progress(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
        const spent = { 'front door': 0, bare: 0 };
        for (let turn = 0; turn < turns; turn += 1) {
          for (const [name, program] of turn % 2 === 0 ? programs : [...programs].reverse()) {
            spent[name] += await stage.cpuOfCalls(program, callsOf(name, quick));
          }
        }
        if (round > 0) for (const [name] of programs) cpu[name].push(spent[name] / (turns * callsOf(name, quick)));
      }
      progress(`${heldCalls} calls in flight`);
      for (const [name, program] of programs) {
        const before = residentOf(program.pid);
        const now = await stage.memoryWith(program, heldCalls);
        if (name === 'front door') held.push(now);
        memory.push(`${name}: ${before.toFixed(0)} MB before, ${now.toFixed(0)} MB with ${heldCalls} calls in flight`);
      }
    } finally {
      await stage.close();
    }
    return {
      rows: [
        {
          measure: 'CPU, front door / bare handler',
          figure: ratios(cpu['front door'], cpu.bare),
          unit: '×',
          goal: { atMost: 2 },
        },
        { measure: `memory, ${heldCalls} calls in flight`, figure: figure(held), unit: 'MB' },
      ],
      absolute: (['front door', 'bare'] as const).map((program) => ({
        program,
        figures: [{ what: 'CPU of a call', figure: figure(cpu[program]), unit: 'µs' }],
      })),
      notes: memory,
    };
  },
  versus: ({ quick }) => ({ '': opener(quick) }),
};
