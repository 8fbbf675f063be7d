import { covers } from '../../identity/access.ts';
import type { Claim } from '../../identity/claim.ts';
import type { Right } from '../../identity/policies.ts';

/** What one connection may do: the verified tokens it has put so far. */
export interface Claims {
  /** Keep a claim; a later one for the same audience replaces it (token renewal). */
  put(audience: string, claim: Claim): void;
  /** Count every claim as expired. */
  expire(): void;
  /** The connection is gone: watch no more. */
  end(): void;
  /** A claim, not expired, that gives `right` on the resource `path`. */
  find(right: Right, path: readonly string[]): Claim | undefined;
  /** What `use` makes of the first claim, not expired, of which it makes something. */
  first<T>(use: (claim: Claim) => T | undefined): T | undefined;
}

const maxTimerMs = 2 ** 31 - 1;

/** The claims of one connection. `now` gives milliseconds since 1970; `onExpiry` is called after one has expired. */
export function createClaims(now: () => number, onExpiry: () => void): Claims {
  const claims = new Map<string, Claim>();
  const timers = new Map<string, NodeJS.Timeout>();

  const watch = (audience: string): void => {
    clearTimeout(timers.get(audience));
    const left = (claims.get(audience)?.expiresAt ?? now()) - now();
    if (left <= 0) onExpiry();
    else timers.set(audience, setTimeout(watch, Math.min(left, maxTimerMs), audience).unref());
  };

  const valid = () => [...claims.values()].filter(({ expiresAt }) => expiresAt > now());

  return {
    put(audience, claim) {
      claims.set(audience, claim);
      watch(audience);
    },
    expire() {
      for (const claim of claims.values()) claim.expiresAt = 0;
      onExpiry();
    },
    end() {
      for (const timer of timers.values()) clearTimeout(timer);
    },
    find(right, path) {
      for (const claim of claims.values())
        if (claim.rights.has(right) && claim.expiresAt > now() && covers(claim.path, path)) return claim;
      return undefined;
    },
    first(use) {
      for (const claim of valid()) {
        const result = use(claim);
        if (result !== undefined) return result;
      }
      return undefined;
    },
  };
}
