import { setTimeout as sleep } from 'node:timers/promises';
import { startAzurite } from '../../../sandbox/methods/azurite.ts';
import { createBlobs } from '../../../src/deadLetters/blobs.ts';
import { idOf, print } from '../../../src/deadLetters/deadLetter.ts';
import { timing } from '../../../src/settings/constants.ts';
import { letter } from '../../support/letters.ts';
import { withConstants } from '../../support/processes.ts';
import type { Served } from '../processes/hub.ts';
import { openStage, type Stage } from '../processes/stage.ts';
import { untilAnswered } from '../processes/untilAnswered.ts';
import { cpuOf, residentOf } from '../processes/usage.ts';
import { figure, ratios } from '../statistics.ts';
import type { Opener, Workload } from './workload.ts';

const partitions = 4;
const devices = 1_000;
/** That the first owner handles before it is killed. */
const handledBefore = 2_000;
const lettersOfOthers = 1_000;

interface Case {
  readonly store: 'file' | 'blob';
  /** Killed before the messages come: an instance that has handled others. */
  readonly owner?: 'killed';
  /** Dead letters of other devices in the store. */
  readonly letters?: number;
  readonly program?: 'service' | 'usual';
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

/** What it cost; CPU in µs for each message, from the start of the process on. */
interface Caught {
  readonly cpu: number;
  readonly perSecond: number;
  /** From the start of the process until the first reply. */
  readonly firstReplySeconds: number;
  readonly resident: number;
  /** Requests to the store of all sorts. */
  readonly storeRequests: number;
}

export const catchingUp: Workload = {
  name: 'catchingUp',
  about: '100,000 updates wait when the service starts, without an earlier owner and after one that was killed',
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
    const of = (name: Name, read: (one: Caught) => number) => caught[name].map(read);
    const cpu = (above: Name, below: Name) =>
      ratios(
        of(above, (one) => one.cpu),
        of(below, (one) => one.cpu),
      );
    const services = names.filter((name) => name !== 'usual');
    return {
      rows: [
        {
          measure: 'CPU, usual / service',
          figure: cpu('usual', 'cold start, file'),
          unit: '×',
          goal: { atLeast: 2.2 },
        },
        {
          measure: `CPU, with ${lettersOfOthers.toLocaleString('en')} dead letters in blobs / without`,
          figure: cpu('cold start, dead letters in blobs', 'cold start, blob'),
          unit: '×',
          goal: { atMost: 1.1 },
        },
        {
          measure: 'CPU, blob / file, cold start',
          figure: cpu('cold start, blob', 'cold start, file'),
          unit: '×',
          goal: { atMost: 1.1 },
        },
        { measure: 'CPU, take-over / cold start, file', figure: cpu('take-over, file', 'cold start, file'), unit: '×' },
        { measure: 'CPU, take-over / cold start, blob', figure: cpu('take-over, blob', 'cold start, blob'), unit: '×' },
        ...services.map((name) => ({
          measure: `messages, ${name}`,
          figure: figure(of(name, ({ perSecond }) => perSecond)),
          unit: '/s' as const,
        })),
      ],
      absolute: names.map((program) => ({
        program,
        figures: [
          { what: 'CPU', figure: figure(of(program, (one) => one.cpu)), unit: 'µs' },
          { what: 'messages', figure: figure(of(program, ({ perSecond }) => perSecond)), unit: '/s' },
          { what: 'first reply after', figure: figure(of(program, (one) => one.firstReplySeconds)), unit: 's' },
          { what: 'memory', figure: figure(of(program, ({ resident }) => resident)), unit: 'MB' },
          { what: 'requests to the store', figure: figure(of(program, (one) => one.storeRequests)), unit: '' },
        ],
      })),
      notes: [],
    };
  },
  versus: ({ quick }) => {
    const messages = quick ? 2_000 : 20_000;
    const services = names.filter((name) => name !== 'usual');
    return Object.fromEntries(services.map((name) => [name, opener(cases[name], messages, shorterIf(quick))]));
  },
};

const opener =
  (one: Case, messages: number, constants: Environment): Opener =>
  async (build) => ({
    isNewEachTime: true,
    async measure() {
      const caught = await catchUp(one, messages, constants, build);
      return {
        'CPU, µs': caught.cpu,
        'messages, /s': caught.perSecond,
        'first reply, s': caught.firstReplySeconds,
        'memory, MB': caught.resident,
        'requests to the store': caught.storeRequests,
      };
    },
    close: async () => {},
  });

/** An owner's partitions are taken from it when it has renewed nothing for so long. */
const shorterIf = (quick: boolean) =>
  quick ? withConstants({ timing: { expirySeconds: 3, checkpointSeconds: 1 } }) : {};

type Environment = Readonly<Record<string, string>>;

async function catchUp(
  { store, owner, letters = 0, program = 'service' }: Case,
  messages: number,
  constants: Environment,
  build?: string,
): Promise<Caught> {
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
    const { faults } = await stage.hub.call<Served>('served');
    if (faults.length > 0) throw new Error(`${program} did the work wrong:\n  ${faults.join('\n  ')}`);
    const { at, done } = first ?? { at: began, done: 0 };
    return {
      cpu: cpu / messages,
      perSecond: ((messages - done) / (ended - at)) * 1000,
      firstReplySeconds: (at - began) / 1000,
      resident,
      storeRequests: requests,
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
  await running.end('SIGKILL');
}

async function writeLetters(connectionString: string, count: number): Promise<void> {
  if (count === 0) return;
  const limits = { attemptMs: 60_000, attempts: 3, pauseMs: 200, verbMs: 200_000 };
  const blobs = createBlobs({ account: connectionString, container: 'dead-letters', limits });
  const letters = Array.from({ length: count }, (_, n) => letter(n, { deviceId: `other-${n % 50}` }));
  await Promise.all(letters.map((one) => blobs.write(idOf(one), print(one))));
}
