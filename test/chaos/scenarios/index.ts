import { deaf } from './deaf.ts';
import type { Scenario } from './scenario.ts';

/** Of `npm run chaos -- --scenario NAME`. */
export const scenarios: readonly Scenario[] = [deaf];
