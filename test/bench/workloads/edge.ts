import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceProcess } from '../../../sandbox/service/process.ts';
import { projectDirectory } from '../../../sandbox/state/directories.ts';
import { type Child, startChild } from '../processes/child.ts';
import { startEdgeProxy } from '../processes/edgeProxy.ts';
import type { EdgeStageDescription } from '../processes/edgeStage.ts';
import { startMethodsProgram } from '../processes/methodsProgram.ts';
import { cpuOf, residentOf } from '../processes/usage.ts';
import { figure } from '../statistics.ts';
import type { Measures, Workload } from './workload.ts';

const inFlight = 200;
const callsOf = (quick: boolean) => (quick ? 1_000 : 5_000);

const perSecond = 'calls, /s';
const [cpuOfProxy, cpuOfDoor] = ['CPU of the edge proxy, µs', 'CPU of the front door, µs'] as const;
const held = `memory of the edge proxy, ${inFlight} calls in flight, MB` as const;

/** Front door and edge proxy of a build, and what is around them. */
async function open(build: string, calls: number) {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const stage: Child<EdgeStageDescription> = await startChild('./edgeStage.ts', [join(directory, 'hub')]);
  const running: ServiceProcess[] = [];
  const close = async () => {
    await Promise.all(running.map((program) => program.kill()));
    await stage.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const proxy = await startEdgeProxy(stage.described, directory, inFlight, build);
    running.push(proxy);
    const door = await startMethodsProgram('front door', stage.described, directory, {
      ...{ build, inFlightPerDevice: inFlight },
    });
    running.push(door);
    return {
      /** Memory of the edge proxy before the first call, in MB. */
      idle: residentOf(proxy.pid),
      async measure() {
        const before = [cpuOf(proxy.pid), cpuOf(door.pid)] as const;
        const ms = await stage.call<number>('run', { port: door.port, calls, inFlight });
        const after = [cpuOf(proxy.pid), cpuOf(door.pid)] as const;
        await stage.call('hold', { port: door.port, calls: inFlight });
        const resident = residentOf(proxy.pid);
        await stage.call('release');
        return {
          [perSecond]: (calls / ms) * 1000,
          [cpuOfProxy]: (after[0] - before[0]) / calls,
          [cpuOfDoor]: (after[1] - before[1]) / calls,
          [held]: resident,
        } satisfies Measures;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export const edge: Workload = {
  name: 'edge',
  about: `remote methods of one module through front door, hub, edge proxy and broker, ${inFlight} in flight`,
  async run({ quick, rounds: asked, progress }) {
    const rounds = Math.ceil(asked / 2);
    const calls = callsOf(quick);
    const chain = await open(projectDirectory, calls);
    const measured: Awaited<ReturnType<typeof chain.measure>>[] = [];
    try {
      for (let round = 0; round <= rounds; round += 1) {
        progress(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
        const one = await chain.measure();
        if (round > 0) measured.push(one);
      }
    } finally {
      await chain.close();
    }
    const of = (name: keyof (typeof measured)[number]) => figure(measured.map((one) => one[name]));
    return {
      rows: [
        { measure: 'calls, whole chain', figure: of(perSecond), unit: '/s' },
        { measure: 'CPU of the edge proxy for each call', figure: of(cpuOfProxy), unit: 'µs' },
        { measure: 'CPU of the front door for each call', figure: of(cpuOfDoor), unit: 'µs' },
        { measure: `memory of the edge proxy, ${inFlight} calls in flight`, figure: of(held), unit: 'MB' },
      ],
      absolute: [],
      notes: [`edge proxy: ${chain.idle.toFixed(0)} MB before the first call`],
    };
  },
  versus: ({ quick }) => ({ '': (build) => open(build, callsOf(quick)) }),
};
