import { setTimeout as sleep } from 'node:timers/promises';
import { createBudget } from '../../../src/engine/budget.ts';
import { createPartition } from '../../../src/engine/partition.ts';
import { createRedeliveryHorizon } from '../../../src/engine/progressTracker.ts';
import { createBacklog } from '../../../src/engine/rooms.ts';
import type { HubEvent } from '../../../src/protocol/event.ts';
import { createRandom } from '../../chaos/random.ts';
import { answerParent } from '../processes/answerParent.ts';

/** Handlers that only wait, run by the service's engine and by the least that keeps the order of each key. */

type Work = Readonly<{ messages: number; devices: number; inFlight: number; engineFirst: boolean }>;

const seed = 20_260_101;

type Job = Readonly<{ device: number; ms: number }>;

function jobs({ messages, devices }: Work): Job[] {
  const { between } = createRandom(seed);
  return Array.from({ length: messages }, () => ({ device: between(0, devices - 1), ms: between(0, 5) }));
}

/** The least: a chain of promises for each key, and a number of places. */
async function pool(work: readonly Job[], inFlight: number): Promise<number> {
  const began = performance.now();
  const chains = new Map<number, Promise<void>>();
  let free = inFlight;
  const waiting: (() => void)[] = [];
  const place = async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  const all = work.map(({ device, ms }) => {
    const run = (chains.get(device) ?? Promise.resolve()).then(async () => {
      await place();
      await sleep(ms);
      leave();
    });
    chains.set(device, run);
    return run;
  });
  await Promise.all(all);
  return performance.now() - began;
}

async function engine(work: readonly Job[], inFlight: number): Promise<number> {
  const body = Buffer.alloc(1024);
  const events: HubEvent[] = work.map((_, sequenceNumber) => ({
    ...{ body, properties: {}, systemProperties: {}, sequenceNumber, offset: String(sequenceNumber) },
    enqueuedTimeUtc: new Date(0),
  }));
  let left = work.length;
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const partition = createPartition({
    budget: createBudget({ maxMessages: inFlight, maxBytes: 64 * 1024 * 1024 }),
    backlog: createBacklog({ maxMessages: 2 * work.length, maxBytes: 1024 ** 3 }),
    redeliveryHorizon: createRedeliveryHorizon(-1),
    progress: undefined,
    limits: { everyMessages: 100, everyMs: 5_000 },
    costOf: () => body.length,
    receivedMessageOf: (event) => ({ event, deviceId: String(work[event.sequenceNumber]?.device) }),
    async dispatch({ event }) {
      await sleep(work[event.sequenceNumber]?.ms ?? 0);
      left -= 1;
      if (left === 0) finish();
      return true;
    },
    checkpoint: async () => true,
    onTrouble(error) {
      throw error;
    },
    onRevoked() {},
  });
  const began = performance.now();
  for (let at = 0; at < events.length; at += 100) await partition.admit(events.slice(at, at + 100));
  await finished;
  const wall = performance.now() - began;
  await partition.drain(1_000);
  return wall;
}

answerParent({
  async run(work: Work) {
    const all = jobs(work);
    const walls = { engine: 0, pool: 0 };
    const order = work.engineFirst ? (['engine', 'pool'] as const) : (['pool', 'engine'] as const);
    for (const name of order) walls[name] = await (name === 'engine' ? engine : pool)(all, work.inFlight);
    return walls;
  },
});
process.send?.({});
