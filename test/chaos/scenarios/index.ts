import { deaf } from './deaf.ts';
import { disk } from './disk.ts';
import { fleet } from './fleet.ts';
import { parking } from './parking.ts';
import type { Scenario } from './scenario.ts';

/** Of `npm run chaos -- --scenario NAME`. */
export const scenarios: readonly Scenario[] = [fleet, deaf, parking, disk];
