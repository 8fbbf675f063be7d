import { readFileSync } from 'node:fs';
import { type Tier, tierLimits } from 'iot-hub-emulator/limits';
import { medianIn, type Run } from '../test/bench/absoluteTables.ts';
import { tableOf } from '../test/scale/outcome.ts';
import type { Outcome } from '../test/scale/run.ts';
import { table, withTexts } from './writtenPart.ts';

/**
 * The tables of `docs/sizing.md`: what a hub lets through and how many instances that takes, by what the bench has measured, and what
 * happens when instances come and go, by `npm run bench -- scale`.
 */

const read = (name: string) => JSON.parse(readFileSync(`docs/measurements/${name}.json`, 'utf8'));

const unitsOf = { S1: [1, 10, 50, 200], S2: [1, 10, 50, 200], S3: [1, 5, 10] } as const;

/** Messages of up to 4 KB a day, of each unit. */
const dailyQuota: Readonly<Record<Tier, number>> = { S1: 400_000, S2: 6_000_000, S3: 300_000_000 };

/** Of a core, at which an instance still takes what comes when another one has ended. */
const fullAt = 0.7;
/** Of a hub with the most that it may have. */
const partitions = 32;
const secondsOfDay = 86_400;

/** Requests to the storage a second: every 5 s each instance lists the ownerships, and each partition is renewed and has a checkpoint. */
export const storageRequests = (instances: number, partitionCount: number): number =>
  (instances + 2 * partitionCount) / 5;

const perSecond = (limit: { count: number; perMs: number } | undefined): number =>
  limit === undefined ? 0 : (limit.count * 1000) / limit.perMs;

/** What one message costs in µs of CPU, and what an instance needs when it is busy. */
type Costs = Readonly<{ skip: number; handle: number; memory: number }>;

function costsIn(run: Run): Costs {
  const figure = (workload: string, program: string, what: string) => {
    const found = medianIn(run, workload, program, what);
    if (found === undefined) throw new Error(`docs/measurements/now.json has no ${what} of ${program} in ${workload}`);
    return found;
  };
  return {
    skip: figure('skip', 'service', 'CPU'),
    handle: figure('waiting', 'service, 4', 'CPU'),
    memory: figure('waiting', 'service, 4', 'memory'),
  };
}

export function hubTable(run: Run): string {
  const { skip, handle, memory } = costsIn(run);
  const needed = (microseconds: number) => Math.max(1, Math.ceil(microseconds / 1_000_000 / fullAt));
  const hubs = (['S1', 'S2', 'S3'] as const).flatMap((tier) => unitsOf[tier].map((units) => ({ tier, units })));
  const lines = hubs.map(({ tier, units }) => {
    const limits = tierLimits(tier, units);
    const [events, replies] = [perSecond(limits.d2c), perSecond(limits.c2d)];
    const answered = Math.min(events, replies);
    const all = {
      telemetry: needed(events * skip),
      mixed: needed((events - answered) * skip + answered * handle),
      ours: needed(events * handle),
    };
    const most = Math.max(2, all.ours);
    return [
      `${tier}, ${units}`,
      number((dailyQuota[tier] * units) / secondsOfDay),
      ...[events, replies].map(number),
      ...[all.telemetry, all.mixed, all.ours].map(String),
      `${(Math.ceil((most * memory) / 100) / 10).toFixed(1)} GB`,
      storageRequests(most, partitions).toFixed(0),
    ];
  });
  return table(
    [
      ...['tier, units', 'events a second by the daily quota', 'at most', 'replies a second'],
      ...['instances: telemetry', 'and as many answered as replies', 'all ours, no replies'],
      ...['memory of these, at least two', 'storage requests a second'],
    ],
    lines,
  );
}

const number = (value: number): string => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en'));

export function withTables(page: string): string {
  const outcomes: readonly Outcome[] = read('scale').outcomes;
  return withTexts(page, { hubs: hubTable(read('now').measured), scenarios: tableOf(outcomes) });
}
