import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild } from '../processes/child.ts';
import { type MethodsProgram, type MethodsStage, startMethodsProgram } from '../processes/methodsProgram.ts';
import { cpuOf, residentOf } from '../processes/usage.ts';
import { figure, ratios } from '../statistics.ts';
import type { Workload } from './workload.ts';

const devices = 200;
const inFlight = 32;

/** In each round the programs take turns so often: the machine's speed changes within a round, too. */
const turns = 10;

export const methods: Workload = {
  name: 'methods',
  about: `remote methods, ${inFlight} in flight, beside a bare fastify handler that calls invokeDeviceMethod`,
  async run({ quick, rounds, progress }) {
    const heldCalls = quick ? 200 : 1_000;
    // The faster one makes more calls, so that both are measured for seconds.
    const callsOf = { 'front door': quick ? 100 : 250, bare: quick ? 100 : 750 };
    const directory = await mkdtemp(join(tmpdir(), 'bench-'));
    const stage: MethodsStage = await startChild('./methodsStage.ts', [join(directory, 'hub'), String(devices)]);
    const programs = new Map<keyof typeof callsOf, MethodsProgram>();
    const cpu: Record<keyof typeof callsOf, number[]> = { 'front door': [], bare: [] };
    const memory: string[] = [];
    const held: number[] = [];
    try {
      for (const name of ['front door', 'bare'] as const) {
        programs.set(name, await startMethodsProgram(name, stage, directory));
      }
      for (let round = 0; round <= rounds; round += 1) {
        progress(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
        const spent = { 'front door': 0, bare: 0 };
        for (let turn = 0; turn < turns; turn += 1) {
          for (const [name, { pid, port }] of turn % 2 === 0 ? programs : [...programs].reverse()) {
            const before = cpuOf(pid);
            await stage.call('run', { port, calls: callsOf[name], inFlight });
            spent[name] += cpuOf(pid) - before;
          }
        }
        if (round > 0) for (const [name] of programs) cpu[name].push(spent[name] / (turns * callsOf[name]));
      }
      progress(`${heldCalls} calls in flight`);
      for (const [name, { pid, port }] of programs) {
        const before = residentOf(pid);
        await stage.call('hold', { port, calls: heldCalls });
        const now = residentOf(pid);
        await stage.call('release');
        if (name === 'front door') held.push(now);
        memory.push(`${name}: ${before.toFixed(0)} MB before, ${now.toFixed(0)} MB with ${heldCalls} calls in flight`);
      }
    } finally {
      await Promise.all([...programs.values()].map((program) => program.kill()));
      await stage.stop();
      await rm(directory, { recursive: true, force: true });
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
};
