import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { FaultRequest as BackendFault } from '../../sandbox/backends/calls/faults.ts';
import type { Instance } from './instance.ts';
import { cutting, inStore, type Met, metBy, untilMet, untilReading } from './met.ts';
import { handledBy } from './observe.ts';
import type { Random } from './random.ts';
import type { RotatedSecret } from './rotation.ts';
import type { Stage } from './stage.ts';
import type { Storage } from './storage.ts';

export interface Misfortune {
  readonly name: string;
  /** It takes several instances, which share a storage account. */
  readonly isOfAccount?: true;
  /** Happens, and is over when the promise resolves; what it left behind may strike later. */
  happen(stage: Stage, random: Random, storage: Storage): Promise<Met>;
}

const backends = ['informationModel', 'typeRegistry', 'principalManager'] as const;
type Backend = (typeof backends)[number];

const changes = {
  informationModel: ['POST', 'PUT'],
  typeRegistry: ['POST'],
  principalManager: ['PUT', 'DELETE'],
} as const satisfies Readonly<Record<Backend, readonly string[]>>;

const backendGoesWrong =
  (calls: number, how: (random: Random, backend: Backend) => Omit<BackendFault, 'backend' | 'times'>) =>
  async (stage: Stage, random: Random): Promise<Met> => {
    const faults = backends.map((backend) => {
      const fault = stage.backends.faults.add({ backend, times: random.between(1, calls), ...how(random, backend) });
      if (fault.lostAnswer || (fault.reset !== undefined && fault.reset !== 'before')) stage.hiding.add(fault.id);
      return fault;
    });
    return () => faults.reduce((sum, { struck }) => sum + struck, 0);
  };

/** For a while, all calls of a backend are answered so, for every device. */
const backendIsOut =
  (answer: Pick<BackendFault, 'status' | 'headers'>) =>
  async (stage: Stage, random: Random): Promise<Met> => {
    const { faults } = stage.backends;
    const fault = faults.add({ backend: random.pick(backends), ...answer });
    const met = await untilMet(stage, async () => fault.struck);
    await sleep(random.between(1_000, 4_000));
    faults.clear(fault.id);
    return met;
  };

/** Conditions under which the hub takes a reply a little later (C4). */
const passing = [
  'amqp:resource-limit-exceeded',
  'com.microsoft:device-container-throttled',
  'com.microsoft:server-busy',
  'com.microsoft:timeout',
] as const;

const partitionOf = ({ hub }: Stage, random: Random) => String(random.between(0, hub.partitions.length - 1));

/** Of an instance that reads: nothing else happens to it meanwhile. */
const toOne =
  (what: (victim: Instance, random: Random, stage: Stage) => Promise<unknown>) => (stage: Stage, random: Random) => {
    const victim = random.pick(stage.instances);
    return victim.alone(async () => {
      const met = await untilReading(stage, victim);
      await what(victim, random, stage);
      return met;
    });
  };

/** Somebody sets the clock of an instance's machine, and perhaps sets it right a little later. */
const clockIsSet = (direction: 1 | -1) =>
  toOne(async (victim, random, { clockErrors }) => {
    const aheadMs = direction * random.between(60_000, 900_000);
    clockErrors.push(aheadMs);
    victim.setClock(aheadMs);
    await sleep(random.between(500, 6_000));
    if (random.next() < 0.5) victim.setClock(0);
  });

/** In which the instances write checkpoints. */
const storeMs = 1_500;

/**
 * Another secret is in the file, and the old one is refused a little later, or before an instance has looked; then what it had
 * opened ends.
 */
async function secretIsRotated(stage: Stage, secret: RotatedSecret, afterMs: number, storage: Storage): Promise<Met> {
  const rotate = async () => stage.rotation?.rotate(secret, afterMs);
  if (secret === 'storage') {
    return inStore(stage, async () => {
      await rotate();
      const before = storage.requests();
      await sleep(storeMs);
      return storage.requests() - before;
    });
  }
  const since = stage.backends.journal.last;
  await rotate();
  if (secret !== 'client')
    return cutting(stage, () => stage.hub.faults.strike({ kind: 'expire-tokens', connections: secret }));
  return () => stage.backends.calls({ since }).filter(({ backend }) => backend === 'token').length;
}

/** A device that sends nothing for so long may have nothing left to send. */
const silentDeviceMs = 300;
/** Longer than the event client waits before the service gives its connection up, and shorter than it would wait itself. */
const silentMs = { least: 13_000, most: 16_000 };

/** The workload has a message more for each of these. */
export const fatalMessage: Misfortune = {
  name: 'a message ends the process',
  happen:
    async ({ fatalEnds }) =>
    () =>
      fatalEnds.length,
};

/** Every device can have sent something meanwhile. */
const awayMs = { least: 0, most: 3_000 };

/** Once: a failover that has met no connection is one, and the next would be the way back. */
const failingOver = (stage: Stage) => cutting(stage, async () => Math.max(1, await stage.failOver()));

/**
 * To the other event endpoint, and back. What the service has not read by the first failover waits there for the way back; before
 * that, the other endpoint is read to its end, or what is left there would be lost with it.
 */
export const failover: Misfortune = {
  name: 'hub fails over',
  happen: (stage, random) =>
    stage.oneFailover(async () => {
      const { name } = stage.hub.endpoint();
      const met = await untilReading(stage, random.pick(stage.instances));
      await failingOver(stage);
      await sleep(random.between(awayMs.least, awayMs.most));
      const there = stage.hub.endpoint().name;
      await untilSo(stage, () => areAllAt(stage, there));
      const before = await stage.checkpointsOf(name);
      const sendAgain = await stage.silenceDevices();
      await untilSo(stage, () => isHandledAt(stage, there), quietMs);
      const after = await stage.checkpointsOf(name);
      await failingOver(stage);
      sendAgain();
      await untilSo(stage, () => areAllAt(stage, name));
      if (!isDeepStrictEqual(before, after))
        throw new Error(`checkpoints of ${name} were written while the hub was away`);
      return met;
    }),
};

/** What is not so after that will never be: the checker says what that means. */
const patienceMs = 300_000;
/** The longest that a service which still has work calls no backend. */
const quietMs = 90_000;
/** The longest that faults which still wait to be met may keep the service from what is waited for. */
const unmetMs = 60_000;

async function untilSo(
  { hub, backends }: Stage,
  isSo: () => Promise<boolean>,
  mostQuietMs = patienceMs,
): Promise<void> {
  const since = performance.now();
  let isCleared = false;
  let [calls, calledAt] = [0, since];
  while (performance.now() - since < patienceMs && performance.now() - calledAt < mostQuietMs && !(await isSo())) {
    const seen = backends.calls().length;
    if (seen !== calls) [calls, calledAt] = [seen, performance.now()];
    if (!isCleared && performance.now() - since > unmetMs) {
      isCleared = true;
      hub.faults.clear();
      backends.faults.clear();
    }
    await sleep(250);
  }
}

/** Whether each instance that runs reads this endpoint, by its log. */
async function areAllAt({ instances, guest }: Stage, hub: string): Promise<boolean> {
  const up = [...instances, guest].filter((instance) => instance.isUp());
  const lines = await Promise.all(up.map((instance) => instance.lines()));
  const last = lines.map((own) => own.findLast(({ event }) => event === 'hub.endpoint_found')?.['endpoint']);
  return last.every((endpoint) => String(endpoint).endsWith(`/${hub}`));
}

async function isHandledAt(stage: Stage, hub: string): Promise<boolean> {
  const handled = new Set((await handledBy(stage)).map(({ id }) => id));
  return [...stage.places].every(
    ([id, places]) => handled.has(id) || !stage.ours.has(id) || places.every((place) => place.hub !== hub),
  );
}

/** Every kind there is; `plan` sees to it that five seeds in a row meet them all. */
export const misfortunes: readonly Misfortune[] = [
  {
    name: 'kill',
    happen: toOne(async (victim, random, { backends, interruptions }) => {
      backends.faults.add({ backend: 'informationModel', delayMs: 400, times: 100 }); // so that it dies in the middle of work
      await sleep(random.between(100, 500));
      interruptions.push({ at: Date.now(), of: victim });
      await victim.kill();
      await sleep(random.between(0, 500));
      await victim.start();
    }),
  },
  {
    name: 'stall',
    happen: toOne(async (victim, random, { interruptions }) => {
      interruptions.push({ at: Date.now(), of: victim });
      victim.freeze();
      await sleep(random.between(500, 12_000)); // with or without losing what it reads to the others
      interruptions.push({ at: Date.now(), of: victim });
      victim.thaw();
    }),
  },
  { name: 'clock set back', happen: clockIsSet(-1) },
  { name: 'clock set forward', happen: clockIsSet(1) },
  { name: 'restart', happen: toOne((victim) => victim.stop().then(victim.start)) },
  {
    name: 'another instance joins and leaves',
    isOfAccount: true,
    async happen(stage, random) {
      const { guest } = stage;
      return guest.alone(async () => {
        await guest.start();
        const met = await untilReading(stage, guest);
        await sleep(random.between(500, 4_000));
        await guest.stop();
        return met;
      });
    },
  },
  {
    name: 'steal',
    async happen(stage, random) {
      const partition = partitionOf(stage, random);
      return untilMet(stage, async () => {
        const at = Date.now();
        const met = await stage.hub.faults.strike({ kind: 'steal', partition });
        if (met > 0) stage.interruptions.push({ at, of: partition });
        return met;
      });
    },
  },
  {
    name: 'hub drop',
    async happen(stage, random) {
      const connections = random.pick(['events', 'service'] as const);
      const how = random.pick(['fin', 'rst'] as const);
      return cutting(stage, () => stage.hub.faults.strike({ kind: 'drop', how, connections }));
    },
  },
  {
    name: 'hub restart',
    async happen(stage, random) {
      const downMs = random.between(0, 1_500);
      return cutting(stage, () => stage.hub.faults.strike({ kind: 'restart', downMs }));
    },
  },
  {
    name: 'hub does not answer',
    async happen(stage, random) {
      const { faults } = stage.hub;
      let silence = '';
      const met = await cutting(stage, async () => {
        silence = faults.add({ kind: 'refuse-connection', answer: 'silent', port: 'amqp' });
        const dropped = await faults.strike({ kind: 'drop', how: 'rst', connections: 'events' });
        // While the hub is silent nobody connects: there would never be a connection to drop.
        if (dropped === 0) faults.clear(silence);
        return dropped;
      });
      await sleep(random.between(silentMs.least, silentMs.most));
      faults.clear(silence);
      return met;
    },
  },
  {
    name: 'partition moves',
    async happen(stage, random) {
      const partition = partitionOf(stage, random);
      const ms = random.between(0, 800);
      return untilMet(stage, () => stage.hub.faults.strike({ kind: 'move', partition, ms }), 2 * ms + 100);
    },
  },
  { name: 'backend error', happen: backendGoesWrong(20, (random) => ({ status: random.pick([429, 502, 503, 504]) })) },
  {
    name: 'backend error of one device',
    async happen(stage, random) {
      const { faults } = stage.backends;
      return untilMet(stage, async () => {
        const deviceId = random.pick(stage.devices);
        const fault = faults.add({ backend: 'informationModel', status: 500, times: 12, deviceId });
        await sleep(silentDeviceMs);
        if (fault.struck === 0) faults.clear(fault.id);
        return fault.struck;
      });
    },
  },
  { name: 'backend refuses the token', happen: backendGoesWrong(6, () => ({ status: 401 })) },
  { name: 'backend hang', happen: backendGoesWrong(4, () => ({ hang: true })) },
  { name: 'backend reset', happen: backendGoesWrong(20, () => ({ reset: 'before' })) },
  { name: 'backend slow', happen: backendGoesWrong(60, (random) => ({ delayMs: random.between(50, 1_500) })) },
  {
    name: 'lost answer',
    happen: backendGoesWrong(4, (random, backend) => ({
      method: random.pick<'POST' | 'PUT' | 'DELETE'>(changes[backend]),
      ...random.pick([{ lostAnswer: true }, { reset: 'after-effect' }, { reset: 'mid-body' }] as const),
    })),
  },
  {
    name: 'store failing',
    isOfAccount: true,
    async happen(stage, random, storage) {
      const ms = random.between(500, 2_500);
      return inStore(stage, () => storage.fail(ms, random));
    },
  },
  {
    name: 'store failing while messages fail',
    isOfAccount: true,
    async happen(stage, random, storage) {
      const { faults } = stage.backends;
      // Not for everybody: then the backend would be out, and no message fails for that.
      const some = stage.devices.filter(() => random.next() < 0.3);
      const added = some.map((deviceId) => faults.add({ backend: 'informationModel', status: 500, deviceId }));
      // Another backend may be out for a while: then nothing is called.
      const struck = await untilMet(stage, async () => added.reduce((sum, { struck }) => sum + struck, 0));
      const ms = random.between(4_000, 8_000); // a call is given up after two seconds, and a letter is tried for one more
      const met = await inStore(stage, () => storage.fail(ms, random));
      for (const { id } of added) faults.clear(id);
      return () => Math.min(met(), struck());
    },
  },
  {
    name: 'store slow',
    isOfAccount: true,
    async happen(stage, random, storage) {
      const ms = random.between(500, 2_500);
      return inStore(stage, () => storage.slow(ms, random));
    },
  },
  {
    name: 'reply refused for now',
    async happen(stage, random) {
      const condition = random.pick(passing);
      const times = random.between(1, 8);
      return metBy(stage, { kind: 'settle', link: 'c2d', answer: 'reject', condition, times });
    },
  },
  {
    name: 'reply refused for good',
    async happen(stage, random) {
      const [condition, deviceId] = ['amqp:not-found', random.pick(stage.devices)];
      return metBy(stage, { kind: 'settle', link: 'c2d', answer: 'reject', condition, deviceId, times: 2 });
    },
  },
  {
    name: 'reply unanswered',
    async happen(stage, random) {
      const effect = random.next() < 0.5;
      return metBy(stage, { kind: 'settle', link: 'c2d', answer: 'never', effect, times: random.between(1, 3) });
    },
  },
  {
    name: 'secret rotated',
    happen: (stage, random, storage) =>
      secretIsRotated(stage, random.pick(stage.rotation?.secrets ?? []), random.between(0, 1_500), storage),
  },
  { name: 'backend errs for everyone', happen: backendIsOut({ status: 500 }) },
  { name: 'backend asks for a long wait', happen: backendIsOut({ status: 503, headers: { 'retry-after': '600' } }) },
  failover,
  fatalMessage,
];
