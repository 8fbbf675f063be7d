import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultRequest as BackendFault } from '../../sandbox/backends/calls/faults.ts';
import { partitionsReadBy } from './bounds.ts';
import type { Instance } from './instance.ts';
import type { Random } from './random.ts';
import type { Span, Stage } from './stage.ts';
import type { Storage } from './storage.ts';

/** A kind of misfortune. */
export interface Misfortune {
  readonly name: string;
  /** Happens, and is over when the promise resolves. */
  happen(stage: Stage, random: Random, storage: Storage): Promise<void>;
}

const backends = ['informationModel', 'typeRegistry', 'principalManager'] as const;

/** The next calls of each backend go wrong. */
const backendGoesWrong =
  (calls: number, how: (random: Random) => Omit<BackendFault, 'backend' | 'times'>) =>
  async (stage: Stage, random: Random) => {
    for (const backend of backends) {
      const fault = stage.backends.faults.add({ backend, times: random.between(1, calls), ...how(random) });
      if (fault.lostAnswer || (fault.reset !== undefined && fault.reset !== 'before')) stage.hiding.add(fault.id);
    }
  };

/** For a while, all calls of a backend are answered so, for every device. */
const backendIsOut =
  (answer: Pick<BackendFault, 'status' | 'headers'>) =>
  async ({ backends: { faults } }: Stage, random: Random) => {
    const { id } = faults.add({ backend: random.pick(backends), ...answer });
    await sleep(random.between(1_000, 4_000));
    faults.clear(id);
  };

/** The death of an instance that has nothing to do is none. */
async function untilReading(instance: Instance): Promise<void> {
  for (let left = 30; left > 0 && (await partitionsReadBy(instance, Date.now())).size === 0; left -= 1)
    await sleep(100);
}

/** Conditions under which the hub takes a reply a little later (C4). */
const passing = [
  'amqp:resource-limit-exceeded',
  'com.microsoft:device-container-throttled',
  'com.microsoft:server-busy',
  'com.microsoft:timeout',
] as const;

const partitionOf = (stage: Stage, random: Random) => String(random.between(0, stage.hub.partitions.length - 1));

/** Takes down from when till when something lasted. */
async function during(spans: Span[], something: Promise<void>): Promise<void> {
  const from = Date.now();
  await something;
  spans.push({ from, to: Date.now() });
}

/** Every kind there is; `plan` sees to it that five seeds in a row meet them all. */
export const misfortunes: readonly Misfortune[] = [
  {
    name: 'kill',
    async happen({ instances, backends: { faults }, interruptions }, random) {
      const victim = random.pick(instances);
      await victim.alone(async () => {
        await untilReading(victim);
        faults.add({ backend: 'informationModel', delayMs: 400, times: 100 }); // so that it dies in the middle of work
        await sleep(random.between(100, 500));
        interruptions.push({ at: Date.now(), of: victim });
        await victim.kill();
        await sleep(random.between(0, 500));
        await victim.start();
      });
    },
  },
  {
    name: 'restart',
    async happen({ instances }, random) {
      const victim = random.pick(instances);
      await victim.alone(async () => {
        await victim.stop();
        await victim.start();
      });
    },
  },
  {
    name: 'another instance joins and leaves',
    async happen({ guest }, random) {
      await guest.alone(async () => {
        await guest.start();
        await sleep(random.between(500, 4_000));
        await guest.stop();
      });
    },
  },
  {
    name: 'steal',
    async happen(stage, random) {
      const partition = partitionOf(stage, random);
      stage.interruptions.push({ at: Date.now(), of: partition });
      await stage.hub.faults.strike({ kind: 'steal', partition });
    },
  },
  {
    name: 'hub drop',
    async happen({ hub }, random) {
      const connections = random.pick(['events', 'service'] as const);
      await hub.faults.strike({ kind: 'drop', how: random.pick(['fin', 'rst']), connections });
    },
  },
  {
    name: 'hub restart',
    async happen({ hub }, random) {
      await hub.faults.strike({ kind: 'restart', downMs: random.between(0, 1_500) });
    },
  },
  {
    name: 'partition moves',
    async happen(stage, random) {
      await stage.hub.faults.strike({
        kind: 'move',
        partition: partitionOf(stage, random),
        ms: random.between(0, 800),
      });
    },
  },
  { name: 'backend error', happen: backendGoesWrong(20, (random) => ({ status: random.pick([429, 502, 503, 504]) })) },
  {
    name: 'backend error of one device',
    async happen({ backends: { faults }, devices }, random) {
      faults.add({ backend: 'informationModel', status: 500, times: 12, deviceId: random.pick(devices) });
    },
  },
  { name: 'backend refuses the token', happen: backendGoesWrong(6, () => ({ status: 401 })) },
  { name: 'backend hang', happen: backendGoesWrong(4, () => ({ hang: true })) },
  { name: 'backend reset', happen: backendGoesWrong(20, () => ({ reset: 'before' })) },
  { name: 'backend slow', happen: backendGoesWrong(60, (random) => ({ delayMs: random.between(50, 1_500) })) },
  {
    name: 'lost answer',
    happen: backendGoesWrong(4, (random) => ({
      method: random.pick(['POST', 'PUT', 'DELETE']),
      ...random.pick([{ lostAnswer: true }, { reset: 'after-effect' }, { reset: 'mid-body' }] as const),
    })),
  },
  {
    name: 'store failing',
    async happen({ storeTroubles }, random, storage) {
      await during(storeTroubles, storage.fail(random.between(500, 2_500), random));
    },
  },
  {
    name: 'store slow',
    async happen({ storeTroubles }, random, storage) {
      await during(storeTroubles, storage.slow(random.between(500, 2_500), random));
    },
  },
  {
    name: 'reply refused for now',
    async happen({ hub }, random) {
      const condition = random.pick(passing);
      hub.faults.add({ kind: 'settle', link: 'c2d', answer: 'reject', condition, times: random.between(1, 8) });
    },
  },
  {
    name: 'reply refused for good',
    async happen({ hub, devices }, random) {
      const [condition, deviceId] = ['amqp:not-found', random.pick(devices)];
      hub.faults.add({ kind: 'settle', link: 'c2d', answer: 'reject', condition, deviceId, times: 2 });
    },
  },
  {
    name: 'reply unanswered',
    async happen({ hub }, random) {
      const effect = random.next() < 0.5;
      hub.faults.add({ kind: 'settle', link: 'c2d', answer: 'never', effect, times: random.between(1, 3) });
    },
  },
  { name: 'backend errs for everyone', happen: backendIsOut({ status: 500 }) },
  { name: 'backend asks for a long wait', happen: backendIsOut({ status: 503, headers: { 'retry-after': '600' } }) },
];
