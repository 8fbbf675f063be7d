import type { Right } from './policies.ts';

/**
 * What a verified token allows: the rights of its policy, or of its principal, below `path`, until `expiresAt` (ms since 1970). One that a
 * device or module signed with its own key has no policy and no rights; it only opens for that identity.
 */
export interface Claim {
  policy: string;
  rights: ReadonlySet<Right>;
  clientId: string | undefined;
  path: readonly string[];
  expiresAt: number;
}
