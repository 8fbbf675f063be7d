import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceProcess } from '../../../sandbox/service/process.ts';
import { type Child, startChild } from '../processes/child.ts';
import { startDoorTo, startEdgeProxy } from '../processes/edgePrograms.ts';
import type { EdgeStageDescription } from '../processes/edgeStage.ts';
import { cpuOf, residentOf } from '../processes/usage.ts';
import { figure } from '../statistics.ts';
import type { Workload } from './workload.ts';

const inFlight = 200;

export const edge: Workload = {
  name: 'edge',
  about: `remote methods of one module through front door, hub, edge proxy and broker, ${inFlight} in flight`,
  async run({ quick, rounds: asked, progress }) {
    const rounds = Math.ceil(asked / 2);
    const calls = quick ? 1_000 : 5_000;
    const directory = await mkdtemp(join(tmpdir(), 'bench-'));
    const stage: Child<EdgeStageDescription> = await startChild('./edgeStage.ts', [join(directory, 'hub')]);
    const running: ServiceProcess[] = [];
    const perSecond: number[] = [];
    const cpu = { proxy: [] as number[], door: [] as number[] };
    const held: number[] = [];
    let idle = 0;
    try {
      const proxy = await startEdgeProxy(stage.described, directory, inFlight);
      running.push(proxy);
      const door = await startDoorTo(stage.described, directory, inFlight);
      running.push(door);
      idle = residentOf(proxy.pid);
      for (let round = 0; round <= rounds; round += 1) {
        progress(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
        const before = [cpuOf(proxy.pid), cpuOf(door.pid)] as const;
        const ms = await stage.call<number>('run', { port: door.port, calls, inFlight });
        if (round === 0) continue;
        perSecond.push((calls / ms) * 1000);
        cpu.proxy.push((cpuOf(proxy.pid) - before[0]) / calls);
        cpu.door.push((cpuOf(door.pid) - before[1]) / calls);
        await stage.call('hold', { port: door.port, calls: inFlight });
        held.push(residentOf(proxy.pid));
        await stage.call('release');
      }
    } finally {
      await Promise.all(running.map((program) => program.kill()));
      await stage.stop();
      await rm(directory, { recursive: true, force: true });
    }
    return {
      rows: [
        { measure: 'calls, whole chain', figure: figure(perSecond), unit: '/s' },
        { measure: 'CPU of the edge proxy for each call', figure: figure(cpu.proxy), unit: 'µs' },
        { measure: 'CPU of the front door for each call', figure: figure(cpu.door), unit: 'µs' },
        { measure: `memory of the edge proxy, ${inFlight} calls in flight`, figure: figure(held), unit: 'MB' },
      ],
      absolute: [],
      notes: [`edge proxy: ${idle.toFixed(0)} MB before the first call`],
    };
  },
};
