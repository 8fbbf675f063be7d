import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildApart } from './build.ts';
import type { Finding } from './checker.ts';
import type { DoneList } from './doneList.ts';
import { type Outcome, run } from './run.ts';
import { type Sabotage, sabotages } from './sabotages.ts';
import { openStorage, type Storage } from './storage.ts';

export interface Trials {
  readonly seeds: readonly number[];
  readonly atOnce: number;
  readonly only: string;
  /** Names of what happens in each seed instead of what it draws. */
  readonly misfortunes?: readonly string[] | undefined;
  /** For logs and histories: those of a failed run are left there. */
  readonly directory: string;
  print(line: string): void;
  /** Seeds in which nothing was found, and names of sabotages that were found out. */
  readonly done: DoneList;
  onProgress(text: string): void;
}

export async function allIsWell(trials: Trials): Promise<boolean> {
  const { directory, print, done } = trials;
  const seeds = trials.seeds.filter((seed) => !done.has(seed));
  if (seeds.length < trials.seeds.length)
    print(`${trials.seeds.length - seeds.length} of ${trials.seeds.length} seeds were clean before`);
  const all: Finding[] = [];
  let untried = 0;
  const build = await buildApart();
  try {
    await inGrounds(trials, seeds, async (seed, ground) => {
      const name = `seed-${seed}`;
      for (let left = mostAttempts; left > 0; left -= 1) {
        const outcome = await runIn(trials, name, seed, build.directory, ground, trials.misfortunes);
        all.push(...outcome.findings);
        for (const line of report(outcome, join(directory, name))) print(line);
        if (outcome.findings.length > 0) return;
        await rm(join(directory, name), { recursive: true, force: true });
        if (outcome.untried.length === 0) return done.add(seed);
      }
      untried += 1;
    });
  } finally {
    await build.remove();
  }
  print(summary(all));
  if (untried > 0) print(`${untried} of ${seeds.length} seeds were not tried in full`);
  return all.length === 0 && untried === 0;
}

/** It is the timing of the processes, too, whether a misfortune meets something. */
const mostAttempts = 3;

const mostShown = 10;

function report(outcome: Outcome, place: string): string[] {
  const { seed, messages, repeated, tookMs, misfortunes, untried, findings } = outcome;
  const mark = findings.length > 0 ? 'FAILED' : untried.length > 0 ? 'UNTRIED' : 'ok    ';
  const seconds = (tookMs / 1000).toFixed(1);
  const head = `${mark} seed ${seed}: ${messages} messages, ${repeated} repeated, ${seconds} s · ${misfortunes.join(', ')}`;
  const missing =
    untried.length > 0 ? [`         met nothing, so that this seed is tried again: ${untried.join(', ')}`] : [];
  if (findings.length === 0) return [head, ...missing];
  const more = findings.length - mostShown;
  return [
    head,
    ...missing,
    ...findings.slice(0, mostShown).map(({ what, id, why }) => `         ${what}: ${id} ${why}`),
    ...(more > 0 ? [`         and ${more} more in findings.json`] : []),
    `         again: npm run chaos -- --seeds 1 --seed ${seed}`,
    `         logs, history and findings: ${place}`,
  ];
}

function summary(findings: readonly Finding[]): string {
  const of = (...kinds: Finding['what'][]) => findings.filter(({ what }) => kinds.includes(what)).length;
  const wrong = `${of('wrong acknowledgement')} wrong acknowledgements, ${of('wrong notification')} wrong notifications`;
  return `\n${of('lost')} lost, ${of('inverted')} inverted, ${of('duplicated', 'state')} duplicated, ${wrong}, ${of('uncounted')} uncounted`;
}

export async function allAreCaught(trials: Trials): Promise<boolean> {
  let escaped = 0;
  const { done, print } = trials;
  const meant = sabotages.filter(({ fault }) => fault.includes(trials.only));
  const left = meant.filter(({ fault }) => !done.has(fault));
  if (left.length < meant.length) print(`${meant.length - left.length} of ${meant.length} were found out before`);
  await inGrounds(trials, left, async (sabotage, ground) => {
    const at = await caughtAt(trials, sabotage, ground);
    if (at === undefined) escaped += 1;
    else await done.add(sabotage.fault);
    print(at === undefined ? `ESCAPED ${sabotage.fault}` : `caught  ${sabotage.fault}: ${at}`);
  });
  print(`\n${meant.length - escaped} of ${meant.length} sabotaged builds found out`);
  return escaped === 0 && meant.length > 0;
}

async function caughtAt(trials: Trials, sabotage: Sabotage, ground: Ground): Promise<string | undefined> {
  const build = await buildApart(sabotage);
  try {
    for (const { seed, only } of attemptsAt(sabotage, trials.seeds)) {
      const { findings } = await runIn(trials, sabotage.fault, seed, build.directory, ground, only);
      await rm(join(trials.directory, sabotage.fault), { recursive: true, force: true });
      const found = findings.find(({ what }) => sabotage.reportedAs.includes(what));
      const beside = only === undefined ? '' : ` with ${only.join(', ') || 'nothing'} beside it`;
      if (found !== undefined) return `seed ${seed}${beside}, ${found.what}: ${found.id} ${found.why}`;
    }
    return undefined;
  } finally {
    await build.remove();
  }
}

/** A run that breaks off is a finding as well: something did not start, or did not answer. */
async function runIn(
  { directory, onProgress }: Trials,
  name: string,
  seed: number,
  serviceDirectory: string,
  ground: Ground,
  only?: readonly string[],
): Promise<Outcome> {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  try {
    return await run({
      ...{ seed, directory: join(directory, name), serviceDirectory, only },
      ...ground,
      onProgress: (what) => onProgress(`${name}, seed ${seed}, ${seconds()} s: ${what}`),
    });
  } catch (error) {
    const why = `the run broke off: ${error instanceof Error ? error.message : error}`;
    const tookMs = performance.now() - began;
    return {
      ...{ seed, findings: [{ what: 'state', id: '', why }], messages: 0, repeated: 0, misfortunes: [], untried: [] },
      tookMs,
    };
  }
}

/** What one run after the other uses, and never two at once. */
type Ground = Readonly<{ storage: Storage; hubDirectory: string }>;

/** Does the work for each item, for so many at once as are asked for. */
async function inGrounds<Item>(
  { atOnce, directory }: Trials,
  items: readonly Item[],
  work: (item: Item, ground: Ground) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const numbers = Array.from({ length: Math.min(atOnce, items.length) }, (_, number) => number);
  await Promise.all(
    numbers.map(async (number) => {
      const storage = await openStorage();
      try {
        const ground = { storage, hubDirectory: join(directory, `hub-${number}`) };
        for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item, ground);
      } finally {
        await storage.close();
      }
    }),
  );
}

/** What is said to show the sabotage, in two seeds, which is much shorter, and then all the seeds as they are. */
const attemptsAt = ({ showsIn }: Pick<Sabotage, 'showsIn'>, seeds: readonly number[]) => [
  ...seeds.slice(0, 2).map((seed) => ({ seed, only: showsIn })),
  ...seeds.map((seed) => ({ seed, only: undefined })),
];
