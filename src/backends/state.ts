import type { Connections } from './bulkhead.ts';
import type { Outage } from './circuit.ts';

/** Of a backend, or of the token endpoint. */
export interface BackendState {
  readonly circuit: 'closed' | 'open';
  /** While the circuit is open. */
  readonly outage: Outage | undefined;
  readonly connections: Connections;
  /** Age of the oldest request under way; 0 when none is. */
  readonly oldestMs: number;
  /** Answers that are cached; undefined for a backend without a cache. */
  readonly cacheEntries?: number | undefined;
}
