import { longestShapingMs } from '../limits/throttle.ts';
import type { Tier } from '../limits/tiers.ts';
import type { HubRules } from './core.ts';

const tiers: readonly Tier[] = ['S1', 'S2', 'S3'];

/** The rules of a hub of this tier, which holds back before it refuses; undefined when there is no such tier. */
export function tierRules(name: string, units?: number): HubRules | undefined {
  const tier = tiers.find((one) => one === name.toUpperCase());
  return tier && { tier, units, shapingMs: longestShapingMs };
}
