import type { ProcessLife } from '../support/processLife.ts';
import type { WorkTotal } from './instance.ts';
import type { Scenario } from './scenarios.ts';
import { createWorld, type Machine, type VirtualTime, type World } from './world.ts';

/** A process of the service in the simulated world, with the ways from it to the hub and the storage. */
export interface Process extends Machine {
  readonly name: string;
  /** Nothing that it sends arrives there, and nothing comes from there. */
  isCutFrom: { hub: boolean; storage: boolean };
  /** Resolves when it is killed. */
  readonly death: Promise<void>;
  kill(): void;
  /** It runs, and the hub can reach it. */
  canRead(): boolean;
}

export function createProcess(name: string, time: VirtualTime, clockAheadMs: number): Process {
  let die = () => {};
  const death = new Promise<void>((resolve) => {
    die = resolve;
  });
  const one: Process = {
    ...{ name, clockAheadMs, bornAt: time.now(), isDead: false, frozenUntil: 0, death },
    isCutFrom: { hub: false, storage: false },
    kill() {
      one.isDead = true;
      die();
    },
    canRead: () => !one.isDead && one.frozenUntil <= time.now() && !one.isCutFrom.hub,
  };
  return one;
}

const never = new Promise<never>(() => {});

/** A request over a network that takes so long there and back again. It is not answered while the way is cut. */
export async function overNetwork<T>(ms: number, isCut: () => boolean, serve: () => Promise<T> | T): Promise<T> {
  const way = () => new Promise<void>((resolve) => setTimeout(resolve, ms / 2));
  await way();
  if (isCut()) return never;
  const answer = await serve();
  await way();
  return isCut() ? never : answer;
}

/** What the hub in memory has to do with a process: each of its calls goes over the network. */
export const lifeOf = (process: Process, ms: () => number): ProcessLife => ({
  step: (something) => overNetwork(ms(), () => process.isCutFrom.hub, something),
  touch: (something) => something(),
  death: process.death.then(() => 'died' as const),
  points: () => 0,
  kill: process.kill,
});

interface CoverageOptions {
  readonly partitions: readonly string[];
  readonly isRead: (partition: string) => boolean;
  readonly behindSeconds: () => number;
  readonly now: () => number;
}

/** In a quiet time, the oldest message that is not handled is younger. */
const quietSeconds = 2;

/** How long each partition has had no reader, and how far behind the work was: looked at again and again. */
function createCoverage({ partitions, isRead, behindSeconds, now }: CoverageOptions) {
  const unreadMs = new Map(partitions.map((id) => [id, 0]));
  let lookedAt = now();
  let mostBehind = 0;
  let lastBehindAt: number | undefined;

  return {
    look() {
      const passedMs = now() - lookedAt;
      lookedAt = now();
      for (const id of partitions) if (!isRead(id)) unreadMs.set(id, (unreadMs.get(id) ?? 0) + passedMs);
      const behind = behindSeconds();
      mostBehind = Math.max(mostBehind, behind);
      if (behind > quietSeconds) lastBehindAt = now();
    },
    /** Seconds without a reader, of each partition. */
    unread: () => [...unreadMs.values()].map((ms) => ms / 1000),
    /** The most, in seconds. */
    mostBehind: () => mostBehind,
    /** When the work was last further behind than in a quiet time, in milliseconds; undefined when it never was. */
    lastBehindAt: () => lastBehindAt,
  };
}

export function createCounts(now: () => number) {
  const seconds: number[] = [];
  const at = (ms: number) => Math.floor(ms / 1000);
  const inSecond = () => seconds[at(now())] ?? 0;
  return {
    count() {
      seconds[at(now())] = inSecond() + 1;
    },
    /** How many in each second from one to another time, in milliseconds. */
    between: (fromMs: number, toMs: number) =>
      Array.from({ length: Math.max(1, at(toMs) - at(fromMs)) }, (_, index) => seconds[at(fromMs) + index] ?? 0),
    /** How many in this second, without those that the other has counted in it. */
    inSecond: (without?: { inSecond(): number }) => inSecond() - (without?.inSecond() ?? 0),
  };
}

export interface Outcome {
  readonly name: string;
  /** Instances before the trouble. */
  readonly before: number;
  /** From the beginning of the trouble until all is balanced and caught up. */
  readonly seconds: number;
  /** Seconds without a reader, over the partitions. */
  readonly unread: { readonly median: number; readonly worst: number };
  /** Requests to the storage a second; `quiet`: before the trouble. */
  readonly storage: { readonly quiet: number; readonly mean: number; readonly most: number };
  /** Questions for the properties of partitions, in the second with the most. */
  readonly mostQuestions: number;
  /** How far the work was behind at the most, in seconds. */
  readonly mostBehind: number;
  /** From the end of the trouble until no work was behind, in seconds. */
  readonly caughtUp: number;
  /** Processes that ended without having been stopped. */
  readonly uncleanEnds: number;
  /** Every partition had a reader in the end, and no instance two more than another. */
  readonly isBalanced: boolean;
  readonly work: WorkTotal;
}

interface RunOptions {
  readonly seed: number;
  readonly instances: number;
  readonly partitions: number;
  /** Told now and then, in seconds of the simulated world. */
  readonly onProgress?: (seconds: number) => void;
}

const lookEveryMs = 100;
/** Before the trouble, when everything has settled. */
const quietMs = 30_000;
/** What has not settled by then never does. */
const longestMs = 30 * 60_000;

/** Plays a scenario in a world of its own. The same seed gives the same outcome. */
export async function runScenario(name: string, scenario: Scenario, options: RunOptions): Promise<Outcome> {
  const { seed, partitions } = options;
  const instances = Math.min(options.instances, scenario.most ?? options.instances);
  const world = createWorld(seed, partitions, scenario.surrounding ?? {});
  try {
    return await play(world, name, scenario, instances, options.onProgress ?? (() => {}));
  } finally {
    world.end();
  }
}

async function play(
  world: World,
  name: string,
  scenario: Scenario,
  instances: number,
  onProgress: (seconds: number) => void,
): Promise<Outcome> {
  const { time, hub, account, cluster, record, partitions } = world;
  const { before = instances } = scenario;

  let failure: unknown;
  async function passUntil(isSo: () => boolean): Promise<boolean> {
    const until = time.now() + longestMs;
    while (!isSo() && failure === undefined && time.now() < until) {
      await time.pass(1_000);
      onProgress(time.now() / 1000);
    }
    if (failure !== undefined) throw failure;
    return isSo();
  }
  async function passDuring(what: Promise<unknown>): Promise<void> {
    let isOver = false;
    const fail = (error: unknown) => {
      failure = error;
    };
    void what.then(() => {
      isOver = true;
    }, fail);
    await passUntil(() => isOver);
  }
  const isSettled = () => world.isBalanced() && record.behindSeconds() < 2;

  await passDuring(Promise.all(Array.from({ length: before }, cluster.start)));
  if (before > 0) {
    await passUntil(isSettled);
    await time.pass(quietMs);
  }
  const begunAt = time.now();
  const quiet = average(account.requests.between(begunAt - quietMs, begunAt));
  const coverage = createCoverage({
    ...{ partitions, behindSeconds: record.behindSeconds, now: time.now },
    isRead: (partition) => hub.readerOf(partition) !== undefined,
  });
  const looking = setInterval(coverage.look, lookEveryMs);

  let endedAt = begunAt;
  const noteEnd = () => {
    endedAt = time.now();
  };
  await passDuring(scenario.play(world, instances).then(noteEnd));
  const expected = scenario.after ?? instances;
  const isBalanced = await passUntil(() => isSettled() && cluster.running().length === expected);
  const settledAt = time.now();
  clearInterval(looking);

  world.load = 0;
  await passUntil(() => record.behindSeconds() === 0);
  await time.pass(10_000); // what may yet be handled again
  const requests = account.requests.between(begunAt, settledAt);
  const unread = coverage.unread().toSorted((one, other) => one - other);
  return {
    ...{ name, before, seconds: rounded((settledAt - begunAt) / 1000) },
    unread: { median: rounded(unread[Math.floor(unread.length / 2)] ?? 0), worst: rounded(unread.at(-1) ?? 0) },
    storage: {
      quiet: rounded(before === 0 ? 0 : quiet),
      ...{ mean: rounded(average(requests)), most: Math.max(...requests) },
    },
    mostQuestions: Math.max(...hub.questions.between(begunAt, settledAt)),
    mostBehind: rounded(coverage.mostBehind()),
    caughtUp: rounded(Math.max(0, (coverage.lastBehindAt() ?? endedAt) - endedAt) / 1000),
    ...{ uncleanEnds: cluster.uncleanEnds(), isBalanced, work: record.total() },
  };
}

const average = (all: readonly number[]) => all.reduce((total, one) => total + one, 0) / Math.max(1, all.length);
const rounded = (value: number) => Math.round(value * 10) / 10;
