import type { Random } from '../chaos/random.ts';
import { type Instance, type Surroundings, startInstance } from './instance.ts';
import { createProcess } from './process.ts';

/** Starts, watches and ends instances as a kubelet does. */
export interface Cluster {
  running(): readonly Instance[];
  /** Resolves when the process has begun. */
  start(): Promise<Instance>;
  /** As by SIGTERM; resolves when the process has ended. */
  stop(instance: Instance): Promise<void>;
  /** As by SIGKILL: it is started again. */
  kill(instance: Instance): void;
  /** Processes that ended without having been stopped. */
  readonly uncleanEnds: () => number;
  /** Ends all, and starts none again. */
  end(): void;
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

export function createCluster({ surroundings, random, clockDifferenceMs }: ClusterOptions): Cluster {
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
    start: () => start(),
    async stop(instance) {
      stopping.add(instance);
      await Promise.race([instance.stop(), instance.process.death]);
      await instance.process.death;
    },
    kill: (instance) => instance.process.kill(),
    uncleanEnds: () => ends,
    end() {
      isOver = true;
      for (const { process } of running) process.kill();
    },
  };
}
