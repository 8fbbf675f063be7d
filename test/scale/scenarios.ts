import { fatalDevice } from './instance.ts';
import type { Surrounding, World } from './world.ts';

/** What happens to instances that share a hub. */
export interface Scenario {
  readonly about: string;
  readonly surrounding?: Surrounding;
  /** Instances that run and have settled before it begins; all when omitted. */
  readonly before?: number;
  /** Of the instances, when that is enough to see it. */
  readonly most?: number;
  /** Instances that run after it; all when omitted. */
  readonly after?: number;
  /** Processes that end without being stopped, at most; none when omitted. */
  readonly uncleanEnds?: number;
  /** For how long an instance may handle messages without a checkpoint, before it loses its partitions. */
  readonly unwrittenSeconds?: number;
  /** Messages that are parked; none when omitted. */
  readonly parks?: number;
  /** @param all how many instances there are when all run */
  play(world: World, all: number): Promise<void>;
}

const sleep = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000));

/** A pod counts as available when it has been ready for so long. */
const availableAfterSeconds = 40;

async function startMany({ cluster, random }: World, count: number): Promise<void> {
  const start = async () => {
    await sleep(5 * random.next());
    await cluster.start();
  };
  await Promise.all(Array.from({ length: count }, start));
}

const anyOf = ({ cluster, random }: World) => random.pick(cluster.running());

/** Anywhere between two rounds. */
const atSomeTime = ({ random }: World) => sleep(10 * random.next());

async function crash(world: World): Promise<void> {
  await atSomeTime(world);
  world.cluster.kill(anyOf(world));
}

export const scenarios: Readonly<Record<string, Scenario>> = {
  'start of all': { about: 'all instances start within 5 s; there is no checkpoint', before: 0, play: startMany },
  'rolling update': {
    about: 'of 8 instances: one more starts, and when it has been ready for 40 s, an old one stops; until all are new',
    most: 8,
    async play({ cluster }) {
      for (const old of cluster.running()) {
        const one = await cluster.start();
        while (!one.isReady()) await sleep(1);
        await sleep(availableAfterSeconds);
        void cluster.stop(old);
      }
    },
  },
  'one crash': { about: 'one process is killed, and started again', uncleanEnds: 1, play: crash },
  'half crash: stands still': {
    ...{ about: 'one process does not run for 45 s, then goes on', uncleanEnds: 1, unwrittenSeconds: 10 },
    async play(world) {
      await atSomeTime(world);
      const { process } = anyOf(world);
      process.frozenUntil = world.time.now() + 45_000;
      await sleep(45);
    },
  },
  'half crash: without storage': {
    about: 'one instance cannot reach the storage for 2 minutes',
    unwrittenSeconds: 50,
    async play(world) {
      await atSomeTime(world);
      const { process } = anyOf(world);
      process.isCutFrom.storage = true;
      await sleep(120);
      process.isCutFrom.storage = false;
    },
  },
  'half crash: without the hub': {
    // D414
    about: 'one instance cannot reach the hub, for good, and is restarted by its liveness probe',
    uncleanEnds: 1,
    async play(world) {
      await atSomeTime(world);
      const { process } = anyOf(world);
      process.isCutFrom.hub = true;
      await process.death;
    },
  },
  'one, all, one': {
    about: 'one instance; then all others start at once; after 2 minutes all but one stop at once',
    before: 1,
    after: 1,
    async play(world, all) {
      await startMany(world, all - 1);
      await sleep(120);
      await Promise.all(world.cluster.running().slice(1).map(world.cluster.stop));
    },
  },
  'start of all, slow storage': {
    about: 'as the start of all; each request to the storage takes 100 ms',
    surrounding: { storageMs: 100 },
    before: 0,
    play: startMany,
  },
  'one crash, slow storage': {
    about: 'as the crash; each request to the storage takes 100 ms',
    surrounding: { storageMs: 100 },
    uncleanEnds: 1,
    play: crash,
  },
  'storage refuses half': {
    about: 'for 3 minutes the storage refuses every other request, as when others use the account up',
    unwrittenSeconds: 30,
    async play({ account }) {
      account.refusedShare = 0.5;
      await sleep(180);
      account.refusedShare = 0;
    },
  },
  'storage allows half': {
    about: 'for 3 minutes the storage takes only half as many requests a second as are usual',
    unwrittenSeconds: 180,
    async play({ account, partitions }, all) {
      account.mostPerSecond = Math.ceil((all + 2 * partitions.length) / 5 / 2);
      await sleep(180);
      account.mostPerSecond = Number.POSITIVE_INFINITY;
    },
  },
  'clocks that differ': {
    about: 'clocks of instances differ by up to 10 minutes, that of the storage by 3; one crashes',
    ...{ surrounding: { clockDifferenceMs: 10 * 60_000 }, uncleanEnds: 1, play: crash },
  },
  'fatal message': {
    ...{ about: 'a message ends every process that handles it, until it is parked', uncleanEnds: 8, parks: 1 },
    async play(world) {
      world.send(world.random.pick(world.partitions), fatalDevice);
      while (world.record.total().parked === 0) await sleep(1);
    },
  },
  'replies beyond the limit': {
    about:
      'devices send five times as much for a minute; the hub takes 160 replies a second, after a burst of a minute',
    surrounding: { repliesAMinute: 160 * 60 },
    async play(world) {
      world.load = 5;
      await sleep(60);
      world.load = 1;
    },
  },
};
