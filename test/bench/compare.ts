import { type Absolute, type Figure, figure, percentile, ratios, used } from './figures.ts';
import { type Arena, type ArenaOptions, type Cost, openArena } from './processes/arena.ts';
import type { Load } from './processes/hub.ts';
import type { Context, Opener } from './workloads/workload.ts';

/** A program, and what it does in each round and before the first. */
export interface Contestant {
  readonly options: ArenaOptions;
  /** @param round from 1 on; 0 is the warm-up */
  readonly load: (round: number) => Load;
  /** It asks no backend, so there are no effects. */
  readonly answersOnly?: boolean;
  /** Made once before the warm-up. */
  readonly prepare?: (arena: Arena) => Promise<void>;
}

export type Costs<Name extends string> = Readonly<Record<Name, readonly Cost[]>>;

/**
 * Runs programs side by side: all are up from the first round to the last, each round runs all of them, one after the
 * other, and begins with another one each time.
 * @throws Error when a reply or an effect is missing, wrong, or there twice
 */
export async function compare<Name extends string>(
  contestants: Readonly<Record<Name, Contestant>>,
  { rounds, progress }: Context,
): Promise<Costs<Name>> {
  const names = Object.keys(contestants) as Name[];
  const arenas = new Map<Name, Arena>();
  const costs = new Map<Name, Cost[]>(names.map((name) => [name, []]));
  const arenaOf = (name: Name) => arenas.get(name) as Arena;
  try {
    progress(`${names.join(', ')} start`);
    const starts = await Promise.allSettled(
      names.map(async (name) => arenas.set(name, await openArena(contestants[name].options))),
    );
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
    for (const name of names) {
      progress(`${name} warms up`);
      const { load, prepare } = contestants[name];
      await prepare?.(arenaOf(name));
      requireRight(name, await arenaOf(name).run(load(0)));
    }
    for (let round = 1; round <= rounds; round += 1) {
      for (let turn = 0; turn < names.length; turn += 1) {
        const name = names[(round + turn) % names.length] as Name;
        progress(`round ${round} of ${rounds}: ${name}`);
        const cost = await arenaOf(name).run(contestants[name].load(round));
        requireRight(name, cost);
        costs.get(name)?.push(cost);
      }
    }
    for (const name of names) await checkEffects(name, arenaOf(name), contestants[name], rounds);
    return Object.fromEntries(costs) as Record<Name, Cost[]>;
  } finally {
    await Promise.all([...arenas.values()].map((arena) => arena.stop()));
  }
}

/** The service of a build, with a hub and backends of its own. */
export const inArena =
  ({ options, ...contestant }: Contestant): Opener =>
  async (build) => {
    const arena = await openArena({ ...options, build });
    await contestant.prepare?.(arena);
    return {
      async measure(nth) {
        const load = contestant.load(nth);
        const cost = await arena.run(load);
        requireRight('service', cost);
        return {
          ...{ 'CPU, µs': cost.cpu, 'memory, MB': cost.resident },
          ...(load.rate === undefined
            ? { 'messages, /s': (cost.messages / cost.wallMs) * 1000 }
            : cost.latencies.length > 0 && { 'p50, ms': percentile(cost.latencies, 0.5) }),
        };
      },
      check: (count) => checkEffects('service', arena, contestant, count),
      close: () => arena.stop(),
    };
  };

/** @throws Error when a reply is missing, wrong, or there twice */
export function requireRight(name: string, { faults }: Pick<Cost, 'faults'>): void {
  if (faults.length > 0) throw new Error(`${name} did the work wrong:\n  ${faults.join('\n  ')}`);
}

/** @throws Error when the backends have not had every effect of all rounds once */
async function checkEffects(
  name: string,
  arena: Arena,
  { load, answersOnly = false }: Pick<Contestant, 'load' | 'answersOnly'>,
  rounds: number,
): Promise<void> {
  if (answersOnly) return;
  const { updates, creates, faults } = await arena.effects();
  const due = { telemetry: 0, update: 0, create: 0 };
  for (let round = 0; round <= rounds; round += 1) {
    const { kind, messages, oneIn = 1 } = load(round);
    due[kind] += Math.ceil(messages / oneIn);
  }
  if (faults.length === 0 && updates === due.update && creates === due.create) return;
  const counts = `${updates} updates of ${due.update}, ${creates} creations of ${due.create}`;
  throw new Error(`${name} had other effects than it should: ${counts}\n  ${faults.join('\n  ')}`);
}

export const cpuRatio = <P extends string>(costs: Costs<P>, above: P, below: P): Figure =>
  ratios(
    costs[above].map(({ cpu }) => cpu),
    costs[below].map(({ cpu }) => cpu),
  );

export const throughputOf = (costs: readonly Cost[]): number[] =>
  costs.map(({ messages, wallMs }) => (messages / wallMs) * 1000);

/** A main thread with less idle time than that is what the others wait for. */
const leastIdle = 0.1;

/** What each program used, for each message, and whether it was the hub or the backends that it waited for. */
export const absoluteOf = <P extends string>(costs: Costs<P>): Absolute[] =>
  (Object.entries(costs) as [P, readonly Cost[]][]).map(([program, rounds]) => {
    const of = (read: (cost: Cost) => number) => rounds.map(read);
    const idle = (whose: keyof Cost['idle']) => of((cost) => 100 * cost.idle[whose]);
    return {
      ...used(program, {
        CPU: [of(({ cpu }) => cpu), 'µs'],
        messages: [throughputOf(rounds), '/s'],
        memory: [of(({ resident }) => resident), 'MB'],
        idle: [idle('program'), '%'],
        calls: [of(({ calls }) => calls), ''],
        'hub: idle': [idle('hub'), '%'],
        'backends: idle': [idle('backends'), '%'],
      }),
      limitedBy: (['hub', 'backends'] as const).filter((whose) => figure(idle(whose)).median < 100 * leastIdle),
    };
  });
