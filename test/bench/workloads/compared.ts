import { absoluteOf, type Contestant, compare, cpuRatio, inArena, throughputOf } from '../compare.ts';
import { figure, type Goal, percentile, ratios, row, used } from '../figures.ts';
import type { Arena, Cost } from '../processes/arena.ts';
import type { Kind } from '../processes/messages.ts';
import { type Context, measurements, type Result, type Workload } from './workload.ts';

const devices = 1_000;

/** Messages a second, less than the hub of the bench can send: at its limit, chance decides how full each batch is. */
const rate = 8_000;

const burst = 400;

const skipping = (program: 'service' | 'idle', { quick }: Context): Contestant => ({
  options: { program, devices },
  load: () => ({ kind: 'telemetry', messages: quick ? rate : 4 * rate, devices, rate, burst }),
});

export const skip: Workload = {
  name: 'skip',
  about: '1 KiB telemetry that is not ours, 4 partitions',
  async run(context) {
    const costs = await compare({ service: skipping('service', context), 'no-op': skipping('idle', context) }, context);
    return {
      rows: [row('CPU, service / no-op consumer', cpuRatio(costs, 'service', 'no-op'), '×', { atMost: 1.05 })],
      absolute: absoluteOf(costs),
    };
  },
  versus: (context) => ({ '': inArena(skipping('service', context)) }),
};

const updatesOf = ({ quick }: Context) => (quick ? 1_500 : 5_000);

const updateLoad = (messages: number, context: Context) => (round: number) =>
  ({ kind: 'update', messages: round === 0 ? 2 * updatesOf(context) : messages, devices, atOnce: true }) as const;

const updating = (context: Context): Contestant => ({
  options: { program: 'service', devices },
  load: updateLoad(updatesOf(context), context),
});

export const update: Workload = {
  name: 'update',
  about: 'model.update, ack=all, 1 KiB body of 30 members, 1,000 devices, backends answer at once',
  async run(context) {
    const messages = updatesOf(context);
    // A program that is fast does more of it, so that each is measured for seconds; the usual one takes its time.
    const costs = await compare(
      {
        service: updating(context),
        floor: {
          options: { program: 'floor', devices },
          load: updateLoad(context.quick ? messages : 4 * messages, context),
        },
        usual: { options: { program: 'usual', devices }, load: updateLoad(messages / 5, context) },
      },
      context,
    );
    const speed = ratios(throughputOf(costs.service), throughputOf(costs.usual));
    return {
      rows: [
        row('CPU, service / floor', cpuRatio(costs, 'service', 'floor'), '×', { atMost: 2 }),
        row('CPU, usual / service', cpuRatio(costs, 'usual', 'service'), '×', { atLeast: 2.5 }),
        row('throughput, service / usual', speed, '×', { atLeast: 2.5 }),
      ],
      absolute: absoluteOf(costs),
    };
  },
  versus: (context) => ({ '': inArena(updating(context)) }),
};

const creationsOf = ({ quick }: Context) => (quick ? 600 : 1_000);

/** Each message comes from a device of its own, so that no identity is known from before. */
const creating = (program: 'service' | 'floor' | 'usual', messages: number, rounds: number): Contestant => ({
  options: { program, devices: messages * (rounds + 1) },
  load: (round) => ({ kind: 'create', messages, devices: messages, firstDevice: round * messages, atOnce: true }),
});

export const create: Workload = {
  name: 'create',
  about:
    'model.create of new devices’ svc.device objects, ack=all: five calls each (owner, type, look-up, creation, ' +
    'configuration), an acknowledgement and a notification',
  async run(context) {
    const messages = creationsOf(context);
    // Short rounds, and more of them: the machine's speed changes within seconds.
    const rounds = context.quick ? context.rounds : 2 * context.rounds;
    const costs = await compare(
      {
        service: creating('service', messages, rounds),
        floor: creating('floor', context.quick ? messages : 2 * messages, rounds),
        usual: creating('usual', messages / 2, rounds),
      },
      { ...context, rounds },
    );
    return {
      rows: [
        row('CPU, service / floor', cpuRatio(costs, 'service', 'floor'), '×', { atMost: 2.3 }),
        row('CPU, usual / service', cpuRatio(costs, 'usual', 'service'), '×'),
      ],
      absolute: absoluteOf(costs),
    };
  },
  versus: (context) => ({ '': inArena(creating('service', creationsOf(context), measurements)) }),
};

const delayMs = 20;
/** `BACKENDS_CONNECTIONS`: what the service may have under way at one backend. */
const connections = 128;
/** Messages a second that these connections allow. */
const allowed = connections / (delayMs / 1000);

export const waiting: Workload = {
  name: 'waiting',
  about: `update with 4 and 32 partitions, but each call of a backend takes ${delayMs} ms`,
  async run(context) {
    const few = await measure(4, context, { atLeast: 20 });
    const many = await measure(32, context); // the usual program handles partitions side by side
    return { rows: [...few.rows, ...many.rows], absolute: [...few.absolute, ...many.absolute] };
  },
  versus: (context) =>
    Object.fromEntries(
      [4, 32].map((partitions) => [
        `${partitions} partitions`,
        inArena({ ...serviceWith(partitions, context), prepare }),
      ]),
    ),
};

const prepare = (arena: Arena) => arena.delay(delayMs);
const load = (messages: number) => () => ({ kind: 'update', messages, devices, atOnce: true }) as const;

const serviceWith = (partitions: number, { quick }: Context): Contestant => ({
  options: { program: 'service', devices, partitions },
  load: load(quick ? 1_500 : 15_000),
});

async function measure(partitions: number, context: Context, goal?: Goal): Promise<Result> {
  const service = serviceWith(partitions, context);
  const usual = {
    options: { program: 'usual', devices, partitions },
    load: load((context.quick ? 15 : 125) * partitions),
  } as const;
  const costs = await compare(
    { service: { ...service, prepare }, 'service without delay': service, usual: { ...usual, prepare } },
    { ...context, rounds: Math.ceil(context.rounds / 4) },
  );
  const speed = throughputOf(costs.service);
  const possible = throughputOf(costs['service without delay']).map((fast) => Math.min(fast, allowed));
  return {
    rows: [
      row(`throughput, service / usual, ${partitions} partitions`, ratios(speed, throughputOf(costs.usual)), '×', goal),
      row(`throughput / what is possible, ${partitions} partitions`, ratios(speed, possible), '×', { atLeast: 0.8 }),
    ],
    absolute: absoluteOf(costs).map(({ program, ...used }) => ({ program: `${program}, ${partitions}`, ...used })),
  };
}

const steady = (program: 'service' | 'echo', { quick }: Context): Contestant => ({
  options: { program, devices },
  load: (round) =>
    round === 0
      ? { kind: 'update', messages: 2_000, devices, rate: 1_000 }
      : { kind: 'update', messages: quick ? 200 : 1_000, devices, rate: 100 },
  answersOnly: program === 'echo',
});

export const latency: Workload = {
  name: 'latency',
  about: 'update at 100 a second, from the hub’s log to the device’s queue; beside bare rhea that answers at once',
  async run(context) {
    const costs = await compare(
      { service: steady('service', context), rhea: steady('echo', context) },
      { ...context, rounds: Math.min(context.rounds, 5) },
    );
    const at = (costs: readonly Cost[], share: number) => costs.map(({ latencies }) => percentile(latencies, share));
    return {
      rows: [
        row('p50', figure(at(costs.service, 0.5)), 'ms', { atMost: 6 }),
        row('p99', figure(at(costs.service, 0.99)), 'ms', { atMost: 20 }),
      ],
      absolute: (['service', 'rhea'] as const).map((program) =>
        used(program, { p50: [at(costs[program], 0.5), 'ms'], p99: [at(costs[program], 0.99), 'ms'] }),
      ),
    };
  },
  versus: (context) => ({ '': inArena(steady('service', context)) }),
};

/** Numbers of partitions that an installation may have. */
export const sizes = [1, 4, 8, 32];
const base = 4;

const kinds = { update: 'updates', telemetry: 'skips' } as const satisfies Partial<Record<Kind, string>>;

/** What a program of this workload is called. */
export const partitionsOf = (kind: keyof typeof kinds, partitions: number): string =>
  `${kinds[kind]}, ${partitions} partition${partitions === 1 ? '' : 's'}`;

export const partitions: Workload = {
  name: 'partitions',
  about: `what one instance handles a second, of updates and of telemetry that is not ours, with ${sizes.join(', ')} partitions`,
  async run(context) {
    const update = await measureKind('update', context);
    const skip = await measureKind('telemetry', context);
    return { rows: [...update.rows, ...skip.rows], absolute: [...update.absolute, ...skip.absolute] };
  },
  versus(context) {
    const contestants = [...contestantsOf('update', context), ...contestantsOf('telemetry', context)];
    return Object.fromEntries(contestants.map(([name, one]) => [name, inArena(one)]));
  },
};

function contestantsOf(kind: keyof typeof kinds, { quick }: Context): readonly (readonly [string, Contestant])[] {
  const messages = { update: quick ? 600 : 5_000, telemetry: quick ? 5_000 : 50_000 }[kind];
  const warmUp = kind === 'update' ? 2 * messages : messages;
  const contestant = (partitions: number): Contestant => ({
    options: { program: 'service', devices, partitions },
    load: (round) => ({ kind, messages: round === 0 ? warmUp : messages, devices, atOnce: true }),
  });
  return sizes.map((size) => [partitionsOf(kind, size), contestant(size)]);
}

async function measureKind(kind: keyof typeof kinds, context: Context): Promise<Result> {
  const rounds = Math.ceil(context.rounds / 2);
  const costs = await compare(Object.fromEntries(contestantsOf(kind, context)), { ...context, rounds });
  const rows = sizes.map((size) => {
    const measure = partitionsOf(kind, size);
    const goal = kind === 'telemetry' && size === 1 ? { atLeast: 15_000 } : undefined;
    return row(measure, figure(throughputOf(costs[measure] ?? [])), '/s', goal);
  });
  const goal = kind === 'update' ? { atLeast: 0.85, atMost: 1.15 } : undefined;
  const growth = sizes
    .filter((size) => size !== base)
    .map((size) => {
      const growth = cpuRatio(costs, partitionsOf(kind, size), partitionsOf(kind, base));
      return row(`CPU, ${partitionsOf(kind, size)} / ${base}`, growth, '×', goal);
    });
  return { rows: [...rows, ...growth], absolute: absoluteOf(costs) };
}
