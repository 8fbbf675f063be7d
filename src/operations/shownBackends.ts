import type { BackendState } from '../backends/circuit.ts';
import { ageOf } from './ages.ts';

/** Circuits, connections and caches, by backend. */
export const shownBackends = (states: Readonly<Record<string, BackendState>>) =>
  Object.fromEntries(
    Object.entries(states).map(([name, { outage, ...state }]) => [
      name,
      { ...state, ...(outage && { outage: { failure: outage.failure, ...ageOf(outage.since) } }) },
    ]),
  );
