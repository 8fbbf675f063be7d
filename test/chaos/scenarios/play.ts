import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildApart } from '../build.ts';
import type { Scenario, ScenarioOptions } from './scenario.ts';

/** Plays one after the other with one build of the checkout. Answers whether all was well in each. */
export async function allGoWell(
  played: readonly Scenario[],
  { seed, directory, print }: Pick<ScenarioOptions, 'seed' | 'directory'> & { print(line: string): void },
): Promise<boolean> {
  const build = await buildApart();
  let isGood = true;
  try {
    for (const scenario of played) {
      const { name } = scenario;
      const own = join(directory, name);
      await mkdir(own, { recursive: true });
      const began = performance.now();
      const say = (line: string) => print(`         ${name}: ${line}`);
      const findings = await playedOne(scenario, { directory: own, serviceDirectory: build.directory, seed, say });
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      print(`${findings.length > 0 ? 'FAILED' : 'ok    '} scenario ${name}, seed ${seed}: ${seconds} s`);
      for (const finding of findings) print(`         ${finding}`);
      if (findings.length === 0) await rm(own, { recursive: true, force: true });
      else print(`         again: npm run chaos -- --scenario ${name} --seed ${seed}; logs: ${own}`);
      isGood &&= findings.length === 0;
    }
  } finally {
    await build.remove();
  }
  return isGood;
}

/** One that breaks off is a finding as well: something did not start, or did not answer. */
const playedOne = ({ run }: Scenario, options: ScenarioOptions): Promise<readonly string[]> =>
  run(options).catch((error) => [`it broke off: ${error instanceof Error ? error.message : error}`]);
