import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAzurite } from '../../../sandbox/methods/azurite.ts';
import { timing } from '../../../src/settings/constants.ts';
import { idOf, print } from '../../../src/stores/deadLetter.ts';
import { createBlobs } from '../../../src/stores/labelledBlobs.ts';
import { letter } from '../../support/letters.ts';
import { withConstants } from '../../support/processes.ts';
import { requireRight } from '../compare.ts';
import { figure, ratios, row, used } from '../figures.ts';
import { openStage, type Stage, untilAnswered, untilQuiet } from '../processes/arena.ts';
import type { Served } from '../processes/hub.ts';
import { cpuOf, type RunningProgram, residentOf } from '../processes/program.ts';
import { alone, anew, type Context, figuresOf, type Opener, type Workload } from './workload.ts';

const devices = 1_000;
const partitions = 4;

const slope = 'slope of it, later two thirds, MB/min';

export const backlog = alone({
  name: 'backlog',
  about: 'events that wait when the service starts, one in twenty ours',
  isCold: true,
  most: 1,
  goals: { 'most memory, MB': { atMost: 200 }, [slope]: { atMost: 5 } },
  parts: (context) => ({ '': anew((build) => readBacklog(build, context)) }),
});

async function readBacklog(build: string, { quick, progress }: Context) {
  const messages = quick ? 50_000 : 1_000_000;
  const stage = await openStage(devices, partitions);
  try {
    progress(`${messages} events are written`);
    await stage.hub.call('send', { kind: 'update', messages, devices, oneIn: 20 });
    progress(`${messages} events are read`);
    const began = performance.now();
    const program = await stage.start({ program: 'service', build });
    const memory: { readonly at: number; readonly megabytes: number }[] = [];
    await untilAnswered(stage.hub, program, () => {
      memory.push({ at: (performance.now() - began) / 60_000, megabytes: residentOf(program.pid) });
    });
    const perSecond = (messages / (performance.now() - began)) * 1000;
    const [most, cpu] = [residentOf(program.pid, 'VmHWM'), cpuOf(program.pid) / messages];
    await requireServed(stage);
    return {
      ...{ 'most memory, MB': most, 'CPU, µs': cpu, 'events, /s': perSecond },
      // The first third is start and warm-up. A quick run is over before there is a slope.
      ...(!quick && { [slope]: slopeOf(memory.slice(memory.length / 3)) }),
    };
  } finally {
    await stage.close();
  }
}

const requireServed = async ({ hub }: Stage, program = 'service') =>
  requireRight(program, await hub.call<Served>('served'));

/** Least squares, in megabytes a minute. */
function slopeOf(points: readonly { readonly at: number; readonly megabytes: number }[]): number {
  const mean = (read: (point: (typeof points)[number]) => number) =>
    points.reduce((sum, point) => sum + read(point), 0) / points.length;
  const [at, megabytes] = [mean((point) => point.at), mean((point) => point.megabytes)];
  const above = mean((point) => (point.at - at) * (point.megabytes - megabytes));
  return above / mean((point) => (point.at - at) ** 2);
}

/** No divisor of it is one of `oneIn`: each sends messages of ours. */
const smallSenders = 997;

const oneIn = 60;
const held = 3_000;
const accounted = 'account of memory / heap and buffers, ×';

export const smallEvents = alone({
  name: 'small',
  about: `events of 60 bytes, one in ${oneIn} ours; ${held} of these wait for a backend that is out`,
  most: 1,
  goals: { [accounted]: { atLeast: 0.85, atMost: 1.15 } },
  parts: (context) => ({ '': anew((build) => waitingIn(build, context)) }),
});

/** All of the memory, what the messages that wait hold of heap and buffers, and what the service says that they hold. */
async function waitingIn(build: string, { quick, progress }: Context) {
  const messages = quick ? 240_000 : 1_000_000;
  const stage = await openStage(smallSenders, partitions);
  const { hub, backends } = stage;
  try {
    progress(`${messages} events are written`);
    await backends.call('outAfter', Math.ceil(messages / oneIn) - held);
    await hub.call('send', { kind: 'update', messages, devices: smallSenders, oneIn, isSmall: true });
    progress(`${messages} events are read`);
    const program = await stage.start({
      ...{ program: 'service', build, nodeOptions: ['--expose-gc', `--import=${onDemand}`] },
    });
    while ((await hub.call<number>('delivered')) < messages) {
      program.requireAlive();
      await sleep(100);
    }
    await untilQuiet(program.pid);
    const resident = residentOf(program.pid);
    const account = await accountOf(program);
    const waiting = await heapAndBuffers(program);
    await backends.call('outAfter', Number.MAX_SAFE_INTEGER);
    await untilAnswered(hub, program);
    await untilQuiet(program.pid);
    await requireServed(stage);
    const real = waiting - (await heapAndBuffers(program));
    return {
      ...{ 'memory, MB': resident, 'heap and buffers of what waits, MB': real, 'account of it, MB': account },
      [accounted]: account / real,
    };
  } finally {
    await stage.close();
  }
}

const megabyte = 1024 * 1024;

/** Collects garbage and writes what is left, whenever it is asked with a signal. */
const onDemand = `data:text/javascript,${encodeURIComponent(`
process.on('SIGUSR2', () => {
  for (let times = 3; times > 0; times -= 1) gc();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write(JSON.stringify({ bytesLeft: heapUsed + external }) + '\\n');
});`)}`;

async function heapAndBuffers({ pid, logFile, requireAlive }: RunningProgram): Promise<number> {
  const said = () =>
    [...readFileSync(logFile, 'utf8').matchAll(/"bytesLeft":(\d+)/g)].map(([, bytes]) => Number(bytes));
  const before = said().length;
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    requireAlive();
    const last = said();
    if (last.length > before) return (last.at(-1) ?? 0) / megabyte;
    await sleep(20);
  }
}

async function accountOf({ url }: RunningProgram): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const parts = [...text.matchAll(/^device_messaging_held_bytes\{[^}]*\} (\S+)/gm)];
  if (parts.length === 0) throw new Error('the service does not say how much it holds');
  return parts.reduce((sum, [, bytes]) => sum + Number(bytes), 0) / megabyte;
}

/** That the first owner handles before it is killed. */
const handledBefore = 2_000;
const lettersOfOthers = 1_000;

interface Case {
  readonly store: 'file' | 'blob';
  /** Killed before the messages come: an instance that has handled others. */
  readonly owner?: 'killed';
  readonly letters?: number;
  readonly program?: 'service' | 'floor' | 'usual';
}

const cases = {
  'cold start, file': { store: 'file' },
  'take-over, file': { store: 'file', owner: 'killed' },
  'cold start, blob': { store: 'blob' },
  'take-over, blob': { store: 'blob', owner: 'killed' },
  'cold start, dead letters in blobs': { store: 'blob', letters: lettersOfOthers },
  usual: { store: 'file', program: 'usual' },
} as const satisfies Readonly<Record<string, Case>>;
type Name = keyof typeof cases;
const names = Object.keys(cases) as Name[];

export const catchingUp: Workload = {
  name: 'catchingUp',
  about: '100,000 updates wait when the service starts, without an earlier owner and after one that was killed',
  isCold: true,
  async run({ quick, rounds: asked, progress }) {
    const messages = quick ? 2_000 : 100_000;
    const rounds = quick ? 1 : Math.ceil(asked / 5);
    const shorter = shorterIf(quick);
    const caught = Object.fromEntries(names.map((name) => [name, [] as Caught[]])) as Record<Name, Caught[]>;
    for (let round = 1; round <= rounds; round += 1) {
      for (let turn = 0; turn < names.length; turn += 1) {
        const name = names[(round + turn) % names.length] as Name;
        progress(`round ${round} of ${rounds}: ${name}`);
        const isUsual = name === 'usual'; // it takes its time
        caught[name].push(await catchUp(cases[name], isUsual ? messages / 5 : messages, shorter));
      }
    }
    const of = (name: Name, what: keyof Caught) => caught[name].map((one) => one[what]);
    const cpu = (above: Name, below: Name) => ratios(of(above, 'CPU, µs'), of(below, 'CPU, µs'));
    const services = names.filter((name) => name !== 'usual');
    return {
      rows: [
        row('CPU, usual / service', cpu('usual', 'cold start, file'), '×', { atLeast: 2.2 }),
        row(
          `CPU, with ${lettersOfOthers.toLocaleString('en')} dead letters in blobs / without`,
          cpu('cold start, dead letters in blobs', 'cold start, blob'),
          '×',
          { atMost: 1.1 },
        ),
        row('CPU, blob / file, cold start', cpu('cold start, blob', 'cold start, file'), '×', { atMost: 1.1 }),
        row('CPU, take-over / cold start, file', cpu('take-over, file', 'cold start, file'), '×'),
        row('CPU, take-over / cold start, blob', cpu('take-over, blob', 'cold start, blob'), '×'),
        ...services.map((name) => row(`messages, ${name}`, figure(of(name, 'messages, /s')), '/s')),
      ],
      absolute: names.map((program) => ({ program, figures: figuresOf(caught[program]) })),
    };
  },
  versus: ({ quick }) => {
    const messages = quick ? 2_000 : 20_000;
    const services = names.filter((name) => name !== 'usual');
    return Object.fromEntries(services.map((name) => [name, ofCase(cases[name], messages, shorterIf(quick))]));
  },
};

const coldMessages = 20_000;

export const cold: Workload = {
  name: 'cold',
  about: `the first ${coldMessages.toLocaleString('en')} updates after the start: they wait for it`,
  isCold: true,
  async run({ quick, rounds: asked, progress }) {
    const messages = quick ? coldMessages / 10 : coldMessages;
    const rounds = Math.ceil(asked / 4);
    const programs = ['service', 'floor', 'usual'] as const;
    const cpu = { service: [] as number[], floor: [] as number[], usual: [] as number[] };
    for (let round = 1; round <= rounds; round += 1) {
      progress(`round ${round} of ${rounds}`);
      for (const program of programs)
        cpu[program].push((await catchUp({ store: 'file', program }, messages, {}))['CPU, µs']);
    }
    return {
      rows: [
        row('CPU, service / floor', ratios(cpu.service, cpu.floor), '×'),
        row('CPU, usual / service', ratios(cpu.usual, cpu.service), '×'),
      ],
      absolute: programs.map((program) => used(program, { CPU: [cpu[program], 'µs'] })),
    };
  },
  versus: ({ quick }) => ({ '': ofCase({ store: 'file' }, quick ? coldMessages / 10 : coldMessages, {}) }),
};

const ofCase = (one: Case, messages: number, constants: Environment): Opener =>
  anew((build) => catchUp(one, messages, constants, build));

/** An owner's partitions are taken from it when it has renewed nothing for so long. */
const shorterIf = (quick: boolean) =>
  quick ? withConstants({ timing: { expirySeconds: 3, checkpointSeconds: 1 } }) : {};

type Environment = Readonly<Record<string, string>>;

type Caught = Awaited<ReturnType<typeof catchUp>>;

/** What it cost, from the start of the process on. */
async function catchUp(
  { store, owner, letters = 0, program = 'service' }: Case,
  messages: number,
  constants: Environment,
  build?: string,
) {
  const stage = await openStage(2 * devices, partitions);
  let requests = 0;
  const azurite = store === 'blob' ? await startAzurite({ onRequest: () => (requests += 1) }) : undefined;
  try {
    if (azurite !== undefined) await writeLetters(azurite.connectionString, letters);
    const inBlobs = azurite && { STORE: 'blob', STORE_CONNECTION_STRING: azurite.connectionString };
    const options = { program, environment: { ...constants, ...inBlobs }, ...(build && { build }) };
    if (owner !== undefined) await ownAndDie(stage, options);
    await stage.hub.call('send', { kind: 'update', messages, devices, atOnce: true });
    requests = 0;
    const began = performance.now();
    // With files the next process finds those of the last one; with blobs it is another instance.
    const running = await stage.start(options, store === 'file' ? 'first' : 'second');
    let first: { readonly at: number; readonly done: number } | undefined;
    await untilAnswered(stage.hub, running, (done) => {
      first ??= { at: performance.now(), done };
    });
    const [ended, cpu, resident] = [performance.now(), cpuOf(running.pid), residentOf(running.pid)];
    await requireServed(stage, program);
    const { at, done } = first ?? { at: began, done: 0 };
    return {
      ...{ 'CPU, µs': cpu / messages, 'messages, /s': ((messages - done) / (ended - at)) * 1000 },
      ...{ 'first reply, s': (at - began) / 1000, 'memory, MB': resident, 'requests to the store, ': requests },
    };
  } finally {
    await Promise.all([stage.close(), azurite?.close()]);
  }
}

/** An instance that owns all partitions, has handled messages of other devices and written its checkpoints, and is killed. */
async function ownAndDie(stage: Stage, options: Parameters<Stage['start']>[0]): Promise<void> {
  const running = await stage.start(options, 'first');
  await stage.hub.call('send', { kind: 'update', messages: handledBefore, devices, firstDevice: devices });
  await untilAnswered(stage.hub, running);
  await sleep((timing.checkpointSeconds + 1) * 1000);
  await running.kill();
}

async function writeLetters(connectionString: string, count: number): Promise<void> {
  if (count === 0) return;
  const limits = { attemptMs: 60_000, attempts: 3, pauseMs: 200, verbMs: 200_000 };
  const blobs = createBlobs({ account: connectionString, container: 'dead-letters', limits });
  const letters = Array.from({ length: count }, (_, n) => letter(n, { deviceId: `other-${n % 50}` }));
  await Promise.all(letters.map((one) => blobs.write(idOf(one), print(one))));
}
