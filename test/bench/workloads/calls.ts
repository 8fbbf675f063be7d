import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServiceProcess } from '../../../sandbox/service/process.ts';
import { figure, ratios, row, used } from '../figures.ts';
import { startChild } from '../processes/child.ts';
import type { Calls, StageDescription } from '../processes/methodsStage.ts';
import { cpuOf, type MethodsProgram, residentOf, startEdgeProxy, startMethodsProgram } from '../processes/program.ts';
import { alone, type Context, type Opener, type Subject, type Workload } from './workload.ts';

const devices = 200;
const inFlight = 32;

/** In each round the programs take turns so often: the machine's speed changes within a round, too. */
const turns = 10;

/** The faster one makes more calls, so that both are measured for seconds. */
const callsOf = (program: 'front door' | 'bare', quick: boolean) =>
  quick ? 100 : { 'front door': 250, bare: 750 }[program];

/** A hub with devices and callers, and what else the programs need. */
async function openStage() {
  const directory = await mkdtemp(join(tmpdir(), 'bench-'));
  const stage = await startChild<StageDescription>('./methodsStage.ts', [join(directory, 'hub'), String(devices)]);
  const programs: ServiceProcess[] = [];
  const noted = async <Program extends ServiceProcess>(starting: Promise<Program>) => {
    const program = await starting;
    programs.push(program);
    return program;
  };
  /** Answers how long the calls took, in ms. */
  const run = (calls: Calls) => stage.call<number>('run', calls);
  return {
    start: (program: 'front door' | 'bare', build?: string, inFlightPerDevice?: number) =>
      noted(startMethodsProgram(program, stage.described, directory, build, inFlightPerDevice)),
    startEdgeProxy: (inFlight: number, build: string) =>
      noted(startEdgeProxy(stage.described, directory, inFlight, build)),
    run,
    async cpuOfCalls({ pid, port }: MethodsProgram, calls: number): Promise<number> {
      const before = cpuOf(pid);
      await run({ port, calls, inFlight, isOfModule: false });
      return cpuOf(pid) - before;
    },
    async close() {
      await Promise.all(programs.map((program) => program.kill()));
      await stage.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** @param open begins with a stage, which is closed with what that answers, or when it fails */
const onStage =
  (open: (stage: Awaited<ReturnType<typeof openStage>>, build: string) => Promise<Pick<Subject, 'measure'>>): Opener =>
  async (build) => {
    const stage = await openStage();
    try {
      return { ...(await open(stage, build)), close: stage.close };
    } catch (error) {
      await stage.close();
      throw error;
    }
  };

/** CPU of each call of two programs that take turns in each round, in µs, round by round; the first round is the warm-up. */
async function cpuByTurns<Program extends string>(
  calls: Readonly<Record<Program, number>>,
  { rounds, progress }: Context,
  spend: (program: Program, calls: number) => Promise<number>,
): Promise<Record<Program, number[]>> {
  const names = Object.keys(calls) as Program[];
  const cpu = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Program, number[]>;
  for (let round = 0; round <= rounds; round += 1) {
    progress(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
    const spent = new Map(names.map((name) => [name, 0]));
    for (let turn = 0; turn < turns; turn += 1)
      for (const name of names.reverse()) spent.set(name, (spent.get(name) ?? 0) + (await spend(name, calls[name])));
    if (round > 0) for (const name of names) cpu[name].push((spent.get(name) ?? 0) / (turns * calls[name]));
  }
  return cpu;
}

const ofCalls = (cpu: Readonly<Record<string, readonly number[]>>) =>
  Object.entries(cpu).map(([program, rounds]) => used(program, { 'CPU of a call': [rounds, 'µs'] }));

const ofDoor = (quick: boolean) =>
  onStage(async (stage, build) => {
    const door = await stage.start('front door', build);
    const calls = turns * callsOf('front door', quick);
    return {
      measure: async () => ({
        'CPU of a call, µs': (await stage.cpuOfCalls(door, calls)) / calls,
        'memory, MB': residentOf(door.pid),
      }),
    };
  });

export const methods: Workload = {
  name: 'methods',
  about: `remote methods, ${inFlight} in flight, beside a bare fastify handler that calls invokeDeviceMethod`,
  async run(context) {
    const calls = { 'front door': callsOf('front door', context.quick), bare: callsOf('bare', context.quick) };
    const stage = await openStage();
    try {
      const programs = { 'front door': await stage.start('front door'), bare: await stage.start('bare') };
      const cpu = await cpuByTurns(calls, context, (name, count) => stage.cpuOfCalls(programs[name], count));
      return {
        rows: [
          row('CPU, front door / bare handler', ratios(cpu['front door'], cpu.bare), '×', { atMost: 2 }),
          row('memory', figure([residentOf(programs['front door'].pid)]), 'MB'),
        ],
        absolute: ofCalls(cpu),
      };
    } finally {
      await stage.close();
    }
  },
  versus: ({ quick }) => ({ '': ofDoor(quick) }),
};

const edgeInFlight = 200;

/** Front door and edge proxy of a build. */
const ofChain = (calls: number) =>
  onStage(async (stage, build) => {
    const proxy = await stage.startEdgeProxy(edgeInFlight, build);
    const door = await stage.start('front door', build, edgeInFlight);
    return {
      async measure() {
        const before = [cpuOf(proxy.pid), cpuOf(door.pid)] as const;
        const ms = await stage.run({ port: door.port, calls, inFlight: edgeInFlight, isOfModule: true });
        const after = [cpuOf(proxy.pid), cpuOf(door.pid)] as const;
        return {
          'calls, /s': (calls / ms) * 1000,
          'CPU of the edge proxy, µs': (after[0] - before[0]) / calls,
          'CPU of the front door, µs': (after[1] - before[1]) / calls,
          'memory of the edge proxy, MB': residentOf(proxy.pid),
        };
      },
    };
  });

export const edge = alone({
  name: 'edge',
  about: `remote methods of one module through front door, hub, edge proxy and broker, ${edgeInFlight} in flight`,
  most: 10,
  parts: ({ quick }) => ({ '': ofChain(quick ? 1_000 : 5_000) }),
});

const httpInFlight = 16;

/** The faster one makes more calls, so that both are measured for seconds. */
const httpCallsOf = (client: 'ours' | 'undici', { quick }: Pick<Context, 'quick'>) =>
  quick ? 500 : { ours: 1_000, undici: 3_000 }[client];

const ofClient =
  (context: Context): Opener =>
  async (build) => {
    const backends = await startChild<{ port: number }>('./backends.ts', []);
    const client = await startChild('../programs/calls.ts', ['ours'], build);
    const calls = turns * httpCallsOf('ours', context);
    return {
      async measure() {
        const cpu = await client.call<number>('post', { port: backends.described.port, calls, inFlight: httpInFlight });
        return { 'CPU of a call, µs': cpu / calls };
      },
      close: async () => void (await Promise.all([backends.stop(), client.stop()])),
    };
  };

export const http: Workload = {
  name: 'http',
  about: `POST 1 KiB, ${httpInFlight} in flight, our headers and deadline, beside undici’s Pool.request`,
  async run(context) {
    const { described, stop } = await startChild<{ port: number }>('./backends.ts', []);
    const clients = {
      ours: await startChild('../programs/calls.ts', ['ours']),
      undici: await startChild('../programs/calls.ts', ['undici']),
    };
    const counts = { ours: httpCallsOf('ours', context), undici: httpCallsOf('undici', context) };
    try {
      const cpu = await cpuByTurns(counts, context, (name, calls) =>
        clients[name].call('post', { port: described.port, calls, inFlight: httpInFlight }),
      );
      const rows = [row('CPU, our client / undici', ratios(cpu.ours, cpu.undici), '×', { atMost: 1.6 })];
      return { rows, absolute: ofCalls(cpu) };
    } finally {
      await Promise.all([stop(), clients.ours.stop(), clients.undici.stop()]);
    }
  },
  versus: (context) => ({ '': ofClient(context) }),
};
