import type { Kit } from '../kit.ts';

/** must: the service does wrong without it. should: it does less, or others suffer. nice: people miss it. */
export type Level = 'must' | 'should' | 'nice';

export interface Rule {
  /** Its backend, what it is about, and which of those. */
  readonly id: string;
  readonly level: Level;
  /** What the backend does, as one sentence. */
  readonly says: string;
  /** What comes of it where the backend does not. */
  readonly otherwise: string;
  /** @throws Broken, NotTried */
  attempt(kit: Kit): Promise<unknown>;
}

const rule =
  (level: Level) =>
  (id: string, says: string, otherwise: string) =>
  (attempt: Rule['attempt']): Rule => ({ id, level, says, otherwise, attempt });

export const must = rule('must');
export const should = rule('should');
export const nice = rule('nice');

export const dead = 'The message ends as a dead letter, and the device gets `internal_platform_error`.';
export const refused = 'The device gets `http_response_error` for what should succeed.';
export const unbounded = 'A mistake of a device is stored, or repeated as if the backend were down.';
