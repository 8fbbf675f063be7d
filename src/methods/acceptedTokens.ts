import { LRUCache } from 'lru-cache';

/**
 * Tokens that the information model has recently accepted, as hashes. This gives no right: requests with a known token are
 * only looked up before others (M14).
 */
export interface AcceptedTokens {
  has(hash: string): boolean;
  /** The information model has accepted it. */
  add(hash: string): void;
  /** The information model has refused it. */
  delete(hash: string): void;
}

/** About 200 bytes each. */
const mostTokens = 10_000;
const keptMs = 600_000;

export function createAcceptedTokens(): AcceptedTokens {
  /** Until when it is known, as `performance.now()`. */
  const known = new LRUCache<string, number>({ max: mostTokens });

  return {
    has: (hash) => (known.get(hash) ?? 0) > performance.now(),
    add: (hash) => void known.set(hash, performance.now() + keptMs),
    delete: (hash) => void known.delete(hash),
  };
}
