import type { ProcessLife } from '../support/processLife.ts';
import type { Machine, VirtualTime } from './virtualTime.ts';

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
