import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildApart } from './build.ts';
import type { Finding } from './checker.ts';
import { type Outcome, run } from './run.ts';
import { type Sabotage, sabotages } from './sabotages.ts';
import { openStorage, type Storage } from './storage.ts';

/** What several runs have in common. */
export interface Trials {
  readonly seeds: readonly number[];
  /** For logs and histories: those of a failed run are left there. */
  readonly directory: string;
  print(line: string): void;
  /** Told again and again how far the present run has come. */
  onProgress(text: string): void;
}

/** Runs the service through the seeds. Answers whether nothing was found. */
export function allIsWell(trials: Trials): Promise<boolean> {
  const { seeds, directory, print } = trials;
  return withStorage(async (storage) => {
    const all: Finding[] = [];
    const build = await buildApart();
    try {
      for (const seed of seeds) {
        const name = `seed-${seed}`;
        const outcome = await runIn(trials, name, seed, build.directory, storage);
        all.push(...outcome.findings);
        for (const line of report(outcome, join(directory, name))) print(line);
        if (outcome.findings.length === 0) await rm(join(directory, name), { recursive: true, force: true });
      }
    } finally {
      await build.remove();
    }
    print(summary(all));
    return all.length === 0;
  });
}

const mostShown = 10;

function report({ seed, messages, repeated, tookMs, misfortunes, findings }: Outcome, place: string): string[] {
  const mark = findings.length === 0 ? 'ok    ' : 'FAILED';
  const seconds = (tookMs / 1000).toFixed(1);
  const head = `${mark} seed ${seed}: ${messages} messages, ${repeated} repeated, ${seconds} s · ${misfortunes.join(', ')}`;
  if (findings.length === 0) return [head];
  const more = findings.length - mostShown;
  return [
    head,
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

/** Runs each sabotaged service until it is found out. Answers whether all were. */
export function allAreCaught(trials: Trials): Promise<boolean> {
  return withStorage(async (storage) => {
    let escaped = 0;
    for (const sabotage of sabotages) {
      const at = await caughtAt(trials, sabotage, storage);
      if (at === undefined) escaped += 1;
      trials.print(at === undefined ? `ESCAPED ${sabotage.name}` : `caught  ${sabotage.name}: ${at}`);
    }
    trials.print(`\n${sabotages.length - escaped} of ${sabotages.length} sabotaged builds found out`);
    return escaped === 0;
  });
}

/** Where the checker found a sabotage out, if it did. */
async function caughtAt(trials: Trials, sabotage: Sabotage, storage: Storage): Promise<string | undefined> {
  const build = await buildApart(sabotage);
  try {
    for (const seed of trials.seeds) {
      const { findings } = await runIn(trials, sabotage.name, seed, build.directory, storage);
      await rm(join(trials.directory, sabotage.name), { recursive: true, force: true });
      const found = findings.find(({ what }) => sabotage.reportedAs.includes(what));
      if (found) return `seed ${seed}, ${found.what}: ${found.id} ${found.why}`;
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
  storage: Storage,
): Promise<Outcome> {
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  try {
    return await run({
      seed,
      directory: join(directory, name),
      hubDirectory: join(directory, 'hub'),
      serviceDirectory,
      storage,
      onProgress: (what) => onProgress(`${name}, seed ${seed}, ${seconds()} s: ${what}`),
    });
  } catch (error) {
    const why = `the run broke off: ${error instanceof Error ? error.message : error}`;
    const tookMs = performance.now() - began;
    return { seed, findings: [{ what: 'state', id: '', why }], messages: 0, repeated: 0, misfortunes: [], tookMs };
  }
}

async function withStorage<T>(use: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = await openStorage();
  try {
    return await use(storage);
  } finally {
    await storage.close();
  }
}
