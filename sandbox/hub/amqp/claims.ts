import { type Claim, covers } from '../access.ts';
import type { Right } from '../policies.ts';

/** What one connection may do: the verified tokens it has put so far. */
export interface Claims {
  /** Keep a claim; a later one for the same audience replaces it (token renewal). */
  put(audience: string, claim: Claim): void;
  /** A claim, not expired, that gives `right` on the resource `path`. */
  find(right: Right, path: readonly string[]): Claim | undefined;
}

/** The claims of one connection. `now` gives milliseconds since 1970. */
export function createClaims(now: () => number): Claims {
  const claims = new Map<string, Claim>();
  return {
    put: (audience, claim) => void claims.set(audience, claim),
    find(right, path) {
      for (const claim of claims.values())
        if (claim.rights.has(right) && claim.expiresAt > now() && covers(claim.path, path)) return claim;
      return undefined;
    },
  };
}
