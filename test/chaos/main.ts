import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildApart } from './build.ts';
import type { Finding } from './checker.ts';
import { type Outcome, run } from './run.ts';
import { type Sabotage, sabotages } from './sabotages.ts';
import { openStorage, type Storage } from './storage.ts';

/**
 * `npm run chaos -- --seeds 20` runs the service through so many seeds of trouble, from `--seed` on, and says what was
 * lost, inverted, duplicated or wrongly acknowledged. `--sabotage` does the same to services that are broken on
 * purpose, each of which must be found out.
 */

const print = (line: string) => process.stdout.write(`${line}\n`);
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '5' },
    seed: { type: 'string', default: '0' },
    sabotage: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed);
const count = values.sabotage ? 10 : Number(values.seeds);
if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count) || count < 1 || first < 0) {
  process.stderr.write('Usage: npm run chaos -- [--seeds N] [--seed S] [--sabotage]\n');
  process.exit(2);
}
const seeds = Array.from({ length: count }, (_, index) => first + index);
const directory = await mkdtemp(join(tmpdir(), 'chaos-'));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130)); // nobody outlives us
const storage = await openStorage();
let isGood = false;
try {
  isGood = values.sabotage ? await allAreCaught() : await allIsWell();
} finally {
  await storage.close();
  if (isGood) await rm(directory, { recursive: true, force: true });
}
process.exit(isGood ? 0 : 1);

async function allIsWell(): Promise<boolean> {
  const build = await buildApart();
  const outcomes: Outcome[] = [];
  try {
    for (const seed of seeds) {
      const outcome = await runIn(`seed-${seed}`, seed, build.directory, storage);
      outcomes.push(outcome);
      const { messages, repeated, misfortunes, tookMs, findings } = outcome;
      const mark = findings.length === 0 ? 'ok    ' : 'FAILED';
      const seconds = (tookMs / 1000).toFixed(1);
      print(
        `${mark} seed ${seed}: ${messages} messages, ${repeated} repeated, ${seconds} s · ${misfortunes.join(', ')}`,
      );
      if (findings.length > 0) {
        for (const { what, id, why } of findings.slice(0, 10)) print(`         ${what}: ${id} ${why}`);
        print(`         again: npm run chaos -- --seeds 1 --seed ${seed}`);
        print(`         logs and history: ${join(directory, `seed-${seed}`)}`);
      } else await rm(join(directory, `seed-${seed}`), { recursive: true, force: true });
    }
  } finally {
    await build.remove();
  }
  print(summary(outcomes.flatMap(({ findings }) => findings)));
  return outcomes.every(({ findings }) => findings.length === 0);
}

function summary(findings: readonly Finding[]): string {
  const of = (...kinds: Finding['what'][]) => findings.filter(({ what }) => kinds.includes(what)).length;
  const acks = `${of('wrong acknowledgement')} wrong acknowledgements`;
  return `\n${of('lost')} lost, ${of('inverted')} inverted, ${of('duplicated', 'state')} duplicated, ${acks}, ${of('uncounted')} uncounted`;
}

async function allAreCaught(): Promise<boolean> {
  let escaped = 0;
  for (const sabotage of sabotages) {
    const at = await caughtAt(sabotage);
    if (at === undefined) escaped += 1;
    print(at === undefined ? `ESCAPED ${sabotage.name}` : `caught  ${sabotage.name}: ${at}`);
  }
  print(`\n${sabotages.length - escaped} of ${sabotages.length} sabotaged builds found out`);
  return escaped === 0;
}

/** Where the checker found a sabotage out, if it did. */
async function caughtAt(sabotage: Sabotage): Promise<string | undefined> {
  const build = await buildApart(sabotage);
  try {
    for (const seed of seeds) {
      const { findings } = await runIn(`sabotage-${seed}`, seed, build.directory, storage);
      await rm(join(directory, `sabotage-${seed}`), { recursive: true, force: true });
      const found = findings.find(({ what }) => sabotage.reportedAs.includes(what));
      if (found) return `seed ${seed}, ${found.what}: ${found.why}`;
    }
    return undefined;
  } finally {
    await build.remove();
  }
}

/** A run that breaks off is a finding as well: something did not start, or did not answer. */
async function runIn(name: string, seed: number, serviceDirectory: string, storage: Storage): Promise<Outcome> {
  const began = performance.now();
  const places = { directory: join(directory, name), hubDirectory: join(directory, 'hub'), serviceDirectory };
  try {
    return await run({ seed, ...places, storage, onProgress: () => {} });
  } catch (error) {
    const why = `the run broke off: ${error instanceof Error ? error.message : error}`;
    const tookMs = performance.now() - began;
    return { seed, findings: [{ what: 'state', id: '', why }], messages: 0, repeated: 0, misfortunes: [], tookMs };
  }
}
