import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { AccountAccess } from '../../src/access/access.ts';
import { createRandom, type Random } from '../chaos/random.ts';
import { abortOf, accessTo, type HttpRequest, memoryAccount } from '../support/memoryAccount.ts';
import { createTimerQueue, type QueuedTimer } from '../support/timerQueue.ts';
import { createHub } from './hub.ts';
import { type Costs, createWorkRecord, type Instance, type Surroundings, startInstance } from './instance.ts';
import { createCounts, createProcess, overNetwork, type Process } from './run.ts';

/** A process on a machine of its own, as far as timers and clocks go. */
export interface Machine {
  /** How far its clock of the day is ahead of the world's, in milliseconds. */
  readonly clockAheadMs: number;
  /** When the process began, in milliseconds of the world: its other clock begins there. */
  readonly bornAt: number;
  /** Its timers end no more. */
  isDead: boolean;
  /** Until then its timers wait, in milliseconds of the world. */
  frozenUntil: number;
}

type Callback = (...args: unknown[]) => void;

/** What is replaced. Kept from the beginning: a world may be made while another lasts. */
const real = {
  ...{ setTimeout, clearTimeout, setInterval, clearInterval, Date },
  ...{ now: performance.now, abortAfter: AbortSignal.timeout, random: Math.random },
};
const turnOfTheLoop = setImmediate;
const promised = createRequire(import.meta.url)('node:timers/promises');
const realSleep = promised.setTimeout;

/** When each world begins, in ms since 1970. */
const beginning = real.Date.UTC(2026, 0, 1);

export type VirtualTime = ReturnType<typeof beginVirtualTime>;

/**
 * The time of a world in which many processes run in this one. It passes as fast as the work is done. Until `end`, timers, clocks and random
 * numbers of the whole process are those of the world.
 * @param random from 0 to 1, without 1
 */
export function beginVirtualTime(random: () => number) {
  const running = new AsyncLocalStorage<Machine | undefined>();
  const timers = createTimerQueue();
  let now = 0;

  function start(callback: Callback, ms: number, everyMs: number | undefined, args: unknown[]) {
    const machine = running.getStore();
    if (machine?.isDead) return undefined;
    const call = () => {
      if (machine?.isDead) return timers.stop(timer);
      if (machine !== undefined && machine.frozenUntil > now) timers.postpone(timer, machine.frozenUntil);
      else running.run(machine, callback, ...args);
    };
    const timer = timers.start(now + ms, everyMs, call);
    return timer;
  }

  function handleOf(timer: QueuedTimer | undefined) {
    const handle = { timer, ref: () => handle, unref: () => handle, hasRef: () => true };
    return handle;
  }

  function stop(handle: ReturnType<typeof handleOf> | undefined) {
    if (handle?.timer === undefined) return;
    timers.stop(handle.timer);
  }

  const wholeMs = (ms = 0) => Math.max(1, Math.trunc(ms));
  const dateOf = () => beginning + Math.floor(now) + (running.getStore()?.clockAheadMs ?? 0);

  class VirtualDate extends real.Date {
    constructor(...args: unknown[]) {
      super(...((args.length === 0 ? [dateOf()] : args) as [number]));
    }
    static override now = dateOf;
  }

  Object.assign(globalThis, {
    Date: VirtualDate,
    setTimeout: (callback: Callback, ms?: number, ...args: unknown[]) =>
      handleOf(start(callback, wholeMs(ms), undefined, args)),
    setInterval: (callback: Callback, ms?: number, ...args: unknown[]) =>
      handleOf(start(callback, wholeMs(ms), wholeMs(ms), args)),
    clearTimeout: stop,
    clearInterval: stop,
  });
  performance.now = () => now - (running.getStore()?.bornAt ?? 0);
  Math.random = random;
  AbortSignal.timeout = (ms) => {
    const over = new AbortController();
    start(
      () => over.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      ms,
      undefined,
      [],
    );
    return over.signal;
  };
  promised.setTimeout = (ms: number, value: unknown) =>
    new Promise((resolve) => void start(resolve as Callback, wholeMs(ms), undefined, [value]));
  syncBuiltinESMExports();

  const settled = () => new Promise<void>((resolve) => void turnOfTheLoop(resolve));
  return {
    /** Milliseconds since the world began. */
    now: () => now,
    /** What is done in the call, and all that comes of it, the machine does. */
    on: <T>(machine: Machine, what: () => T): T => running.run(machine, what),
    /** The same for what no machine does: the hub, the storage, the world around them. */
    outside: <T>(what: () => T): T => running.run(undefined, what),
    /** Lets time pass. What a timer has begun goes on, up to the next timer, before that one ends. */
    async pass(ms: number) {
      const until = now + ms;
      await settled();
      for (let next = timers.next(until); next !== undefined; next = timers.next(until)) {
        now = next.endsAt;
        next.timer.call();
        await settled();
      }
      now = until;
    },
    end() {
      timers.clear();
      const { now: realNow, abortAfter, random: realRandom, ...globals } = real;
      Object.assign(globalThis, globals);
      performance.now = realNow;
      Math.random = realRandom;
      AbortSignal.timeout = abortAfter;
      promised.setTimeout = realSleep;
      syncBuiltinESMExports();
    },
  };
}

export type Account = ReturnType<typeof createAccount>;

/** @param clockAheadMs of the account's clock, to that of the world */
export function createAccount(time: VirtualTime, clockAheadMs: number) {
  const requests = createCounts(time.now);
  /** Requests that it has refused because there were too many. */
  const refused = createCounts(time.now);
  const memory = memoryAccount(() => time.outside(() => Date.now() + clockAheadMs));

  const account = {
    ...{ requests, refused },
    /** How long a request takes, in milliseconds. */
    takesMs: 8,
    /** More requests a second are refused. */
    mostPerSecond: Number.POSITIVE_INFINITY,
    /** Of all requests, this share is refused, as when others use the account up. */
    refusedShare: 0,
    accessFrom: (process: Process): AccountAccess =>
      accessTo((request) => {
        requests.count();
        const isCut = () => process.isCutFrom.storage;
        const answered = overNetwork(account.takesMs, isCut, () => time.outside(() => answerTo(request)));
        return Promise.race([answered, abortOf(request)]);
      }),
  };

  function answerTo(request: HttpRequest) {
    const isOthersTurn = account.refusedShare > 0 && Math.random() < account.refusedShare;
    if (!isOthersTurn && requests.inSecond(refused) <= account.mostPerSecond) return memory.answer(request);
    refused.count();
    return memory.refusal(request, 503, 'ServerBusy');
  }

  return account;
}

export type World = ReturnType<typeof createWorld>;

export interface Surrounding {
  /** Sends a minute that the hub allows; without limit when omitted. */
  readonly repliesAMinute?: number;
  readonly clockDifferenceMs?: number;
  /** How long a request to the storage takes, in milliseconds. */
  readonly storageMs?: number;
}

/** Messages of ours that devices send to a partition in a second. */
export const messagesPerSecond = 4;
const devicesOfPartition = 8;

/** One instance is at 60 % with the messages of all 32 partitions: it works 4.7 ms for each of 128 a second. */
const costs: Costs = { workMs: 4.7, callMs: 20, isAnswered: true };

/** A hub, a storage account, devices that send, and instances that come and go. */
export function createWorld(
  seed: number,
  partitionCount: number,
  { repliesAMinute, clockDifferenceMs = 0, storageMs }: Surrounding,
) {
  const random = createRandom(seed);
  const time = beginVirtualTime(random.next);
  const partitions = Array.from({ length: partitionCount }, (_, index) => String(index));
  const replyLimits = repliesAMinute === undefined ? {} : { c2d: { count: repliesAMinute, perMs: 60_000 } };
  const networkMs = () => 4 + 8 * random.next();
  const hub = createHub({ time, partitions, networkMs, replyLimits });
  const account = createAccount(time, clockDifferenceMs / 3);
  if (storageMs !== undefined) account.takesMs = storageMs;
  const record = createWorkRecord(time, partitions);
  const surroundings = { time, hub, account, record, costs };
  const cluster = createCluster({ surroundings, random, clockDifferenceMs });

  const world = {
    ...{ time, random, hub, account, cluster, record, partitions },
    /** How many times the usual number of messages the devices send; 0: none. */
    load: 1,
    send(partition: string, device: string) {
      record.sent(partition);
      hub.append(partition, device);
    },
    /** Every partition has a reader, and no instance reads two more than another. */
    isBalanced() {
      const shares = new Map(cluster.running().map(({ process }) => [process.name, 0]));
      for (const partition of partitions) {
        const reader = hub.readerOf(partition);
        if (reader === undefined) return false;
        shares.set(reader.name, (shares.get(reader.name) ?? 0) + 1);
      }
      return Math.max(...shares.values()) - Math.min(...shares.values()) <= 1;
    },
    end() {
      cluster.end();
      hub.end();
      time.end();
    },
  };

  function sendSome(partition: string) {
    for (let count = 0; count < world.load; count += 1)
      world.send(partition, `${partition}-${random.between(1, devicesOfPartition)}`);
  }

  for (const partition of partitions) {
    const begin = () => void setInterval(sendSome, 1000 / messagesPerSecond, partition);
    setTimeout(begin, random.between(1, 1000));
  }
  return world;
}

interface ClusterOptions {
  readonly surroundings: Surroundings;
  readonly random: Random;
  /** The most by which the clock of an instance differs from the world's, in milliseconds. */
  readonly clockDifferenceMs: number;
}

/** From the start of a process to its first round. */
const startMs = 1_000;
/** Before the second start of a pod; it doubles with each further one. */
const firstPauseMs = 10_000;
/** A liveness probe, and how many have to fail one after the other. */
const probe = { everyMs: 10_000, failures: 3 };

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Starts, watches and ends instances as a kubelet does. */
function createCluster({ surroundings, random, clockDifferenceMs }: ClusterOptions) {
  const { time } = surroundings;
  const running = new Set<Instance>();
  const stopping = new Set<Instance>();
  let names = 0;
  let ends = 0;
  let isOver = false;

  async function start(restarts = 0): Promise<Instance> {
    await sleep(startMs);
    names += 1;
    const clockAheadMs = Math.round((2 * random.next() - 1) * clockDifferenceMs);
    const instance = startInstance(createProcess(`instance-${names}`, time, clockAheadMs), surroundings);
    running.add(instance);
    void watch(instance);
    void instance.process.death.then(() => ended(instance, restarts));
    return instance;
  }

  async function ended(instance: Instance, restarts: number) {
    running.delete(instance);
    if (stopping.delete(instance) || isOver) return;
    ends += 1;
    if (restarts > 0) await sleep(firstPauseMs * 2 ** (restarts - 1));
    if (!isOver) await start(restarts + 1);
  }

  async function watch(instance: Instance) {
    for (let failures = 0; failures < probe.failures; ) {
      await sleep(probe.everyMs);
      if (instance.process.isDead || isOver) return;
      // A process that stands still does not answer either.
      const isWell = instance.process.frozenUntil <= time.now() && !instance.isStuck();
      failures = isWell ? 0 : failures + 1;
    }
    instance.process.kill();
  }

  return {
    running: () => [...running].filter((instance) => !stopping.has(instance)),
    /** Resolves when the process has begun. */
    start: () => start(),
    /** As by SIGTERM; resolves when the process has ended. */
    async stop(instance: Instance) {
      stopping.add(instance);
      await Promise.race([instance.stop(), instance.process.death]);
      await instance.process.death;
    },
    /** As by SIGKILL: it is started again. */
    kill: (instance: Instance) => instance.process.kill(),
    /** Processes that ended without having been stopped. */
    uncleanEnds: () => ends,
    /** Ends all, and starts none again. */
    end() {
      isOver = true;
      for (const { process } of running) process.kill();
    },
  };
}
